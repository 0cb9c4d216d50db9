"""Reading the counts that `rollups` keeps."""
