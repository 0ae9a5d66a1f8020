"""Pages of help: lists of columns and devices, inspected rows."""
