//! The program without a screen: one prompt in, events or text out.
