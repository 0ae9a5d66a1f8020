"""Questions about very many profiles: data sets of Parquet files, and SQL."""
