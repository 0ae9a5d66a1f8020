"""The reader of the Chrome timelines that MegEngine's imperative profiler writes."""
