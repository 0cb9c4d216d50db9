"""The questionnaires that come with the product, each with a note why it is built as it is."""
