//! Words that take the place of a picture where the model sees none.

/// Tells the model that there was a picture.
pub fn left_out(media_type: &str) -> String {
    format!("[{media_type} left out: this model does not take images]")
}
