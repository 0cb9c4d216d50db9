"""The contact policy of an organization: how often a person is asked over all pipelines, quiet hours, holidays."""
