"""Where bytes come from: files, folders, URLs, several processes."""
