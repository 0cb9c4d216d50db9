"""SQL of the values that a response has and that its answers give."""

from typing import Final, LiteralString

# The value that a response `i` has of a dimension `d` of kind and name.
DIMENSION: Final[LiteralString] = """case d.kind
    when 'version' then i.version_id
    when 'locale' then i.locale
    when 'hour' then to_char(i.submitted_time at time zone 'UTC', 'YYYY-MM-DD"T"HH24')
    when 'questionnaire_metadata' then i.metadata ->> d.name
    when 'responder_metadata' then (
      select p.metadata ->> d.name from responder p
      where p.organization_id = i.organization_id and p.responder_id = i.responder_id)
    when 'case' then (
      select case d.name when 'cause' then c.cause else c.remedy end from alert_instance c
      where c.organization_id = i.organization_id and c.instance_id = i.instance_id and c.resolved_time is not null
      order by c.resolved_time desc, c.alert_instance_id limit 1)
    when 'question' then (
      select x.value #>> '{}' from answer x
      where x.organization_id = i.organization_id and x.instance_id = i.instance_id and x.question_id = d.name
        and not x.provisional)
    when 'channel' then i.channel_id::text
    when 'pipeline' then i.pipeline_id
    end"""


def _values_of(is_ranking: LiteralString) -> LiteralString:
    """The values that an answer `a` gives: itself, each choice of several and the answer as such (*), or each part."""
    return f"""unnest(case jsonb_typeof(a.value)
      when 'array' then case when {is_ranking} then
        array(select e.rank || ':' || e.value from jsonb_array_elements_text(a.value) with ordinality e (value, rank))
        when jsonb_array_length(a.value) > 0 then
        array(select distinct e.value from jsonb_array_elements_text(a.value) e (value)) || '*'::text end
      when 'object' then array(select m.key || ':' || m.value from jsonb_each_text(a.value) m)
      when 'null' then null
      else array[a.value #>> '{{}}'] end)"""


VALUES: Final = _values_of("false")  # where no question is a ranking
VALUES_AND_RANKS: Final = _values_of("$16::boolean")  # $16: whether some are
# The parts of an answer: the rows of a matrix, the ranks of a ranking ($16), of other answers one without a name.
PARTS: Final[LiteralString] = """unnest(case
    when jsonb_typeof(a.value) = 'object' then array(select m.key from jsonb_object_keys(a.value) m (key))
    when jsonb_typeof(a.value) = 'array' and $16::boolean then
      array(select e.rank::text from jsonb_array_elements(a.value) with ordinality e (value, rank))
    else array[''] end)"""
