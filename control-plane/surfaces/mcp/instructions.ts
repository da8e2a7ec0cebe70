/**
 * What the server says of itself when a client connects: all that is the same for every tool, so that no tool repeats it.
 * Hosts hand it to the model beside the list of tools.
 */
export const INSTRUCTIONS = `Vantage checks public web sites, hosts, domains and mail systems from probes in one or many places.

Arguments: every check takes its target and an optional \`locations\`, an array of places to run from. Without it one probe runs the check. Each item is a region, a country (ISO code, DE), a continent (africa, asia, europe, north-america, south-america, oceania, antarctica), a city (with hyphens for spaces), a network (AS64500), a tag, probe:<id>, nearest (the closest probe) or all (one probe in each region). + joins terms that must all match (europe+AS64500); ! negates a term (europe+!DE), and an item such as !DE takes those places out; :n at the end asks for n probes (DE:3). An unknown location is answered with the ones that exist.

Results: output schemas name the top-level fields of a result, and in a description the fields inside a list or an object. Every result also has observed_at (when the check began, ISO 8601 UTC) and limitations (what could not be known, one sentence each); most have elapsed_ms and source (where the answer comes from). Names that end in _ms are milliseconds. null: not known, or there is none. With \`locations\` the result is {locations: [{location, status: ok or failed, data or error, duration_ms}], summary}, where each data has the tool's fields.

Errors: a failed call is a result with isError and {error: {code, message, field, reason, retry_after_seconds}}; the message says what to change.`;
