//! Pictures that can't be sent, and the words that take their place.

/// Kinds of pictures that every service with sight reads.
pub fn is_common(media_type: &str) -> bool {
    matches!(media_type, "image/png" | "image/jpeg" | "image/gif" | "image/webp")
}

/// The words for a picture that is not sent: the model sees none, or not of that kind.
pub fn in_words(media_type: &str, vision: bool) -> String {
    if vision { not_taken(media_type) } else { left_out(media_type) }
}

/// Tells the model that there was a picture.
pub fn left_out(media_type: &str) -> String {
    format!("[{media_type} left out: this model does not take images]")
}

/// Tells the model that there was a picture of a kind its service can't read.
pub fn not_taken(media_type: &str) -> String {
    format!("[{media_type} left out: this service does not read that kind of picture]")
}
