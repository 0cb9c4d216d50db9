"""Items by the client's own key of them."""
