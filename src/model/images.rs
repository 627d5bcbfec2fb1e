//! Words that take the place of a picture where the model sees none.

/// Tells the model that there was a picture.
pub fn left_out(media_type: &str) -> String {
    format!("[{media_type} left out: this model does not take images]")
}

/// Tells the model that there was a picture of a kind its service can't read.
pub fn not_taken(media_type: &str) -> String {
    format!("[{media_type} left out: this service does not read that kind of picture]")
}
