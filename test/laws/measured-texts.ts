/**
 * Every file of the control plane that normalises, collates or decodes texts, and what bounds them. These functions take
 * a multiple of the time that it takes to receive a text, and that of `normalize` grows with the square of its combining
 * marks: one request with a long text holds the event loop for all others. A length is looked at before they are called.
 */
export const MEASURED: Readonly<Record<string, string>> = {
  "control-plane/surfaces/dashboard/incidents/list-query.ts": "writes numbers and words of closed sets",
  "control-plane/surfaces/dashboard/incidents/views.ts": "stored names of monitors: 200 characters",
  "control-plane/surfaces/dashboard/monitor/check-log.ts": "its own query, of values that were read",
  "control-plane/surfaces/dashboard/monitor/ping-log.ts": "its own query, of values that were read",
  "control-plane/surfaces/dashboard/monitors/list-query.ts": "values of the query, cut to 200 characters",
  "control-plane/surfaces/dashboard/monitors/select-rows.ts": "stored names and tags: 200 characters",
  "control-plane/surfaces/dashboard/tools/values.ts": "fields of a form: 262,144 characters together",
  "control-plane/http/body.ts": "a body: 1 MiB, whose fields are counted first",
  "control-plane/http/connection/literal-path.ts": "a path: the 16 KiB that Node reads of a header",
  "control-plane/http/server.ts": "a path: the 16 KiB that Node reads of a header",
  "control-plane/outages/kinds/dns.ts": "a value of a monitor, bounded by its schema",
  "control-plane/outages/kinds/domain.ts": "the target of a monitor, bounded by its schema",
  "control-plane/outages/kinds/expiring.ts": "the target of a monitor, bounded by its schema",
  "control-plane/core/mail-address.ts": "254 characters, looked at first",
  "control-plane/surfaces/open-tier/offered-tools.ts": "values of parameters, bounded by their schemas",
  "control-plane/people/users/passwords.ts": "256 characters, looked at first",
  "shared/internet/egress.ts": "a host: 1,024 characters, looked at first",
  "shared/egress/names.ts": "a suffix: 1,024 characters, looked at first",
  "shared/internet/locations.ts": "an item of a location: 200 characters; a city of an agent: 100",
  "shared/tools/wayback/presenter.ts": "years",
  "shared/settings/mail-server.ts": "a setting of the operator",
};
