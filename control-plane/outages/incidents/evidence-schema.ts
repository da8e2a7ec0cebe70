import { Type } from "typebox";
import { SOURCES } from "#shared/contracts/outcome.ts";
import { Nullable } from "#shared/tools/fields.ts";

const text = (description: string) => Type.String({ description });
const moment = (description: string) => Type.String({ format: "date-time", description });

const ToolError = Type.Object(
  {
    code: text("Code as in error answers"),
    message: text("For people"),
    stage: Type.Optional(text("dns, connect, tls, request or response")),
    source: Type.Optional(text(`Party that failed: ${SOURCES.join(", ")}`)),
    reason: Type.Optional(text("Cause as a stable word")),
  },
  { description: "Why the tool has no result; absent if it has one" },
);

const answerOf = (what: string) =>
  Type.Object(
    {
      status: Type.Enum(["ok", "failed"], { description: "failed: there is no result" }),
      data: Type.Optional(Type.Unknown({ description: `${what}; absent if it failed` })),
      error: Type.Optional(ToolError),
    },
    { description: what },
  );

const Check = Type.Object(
  {
    verdict: Type.Enum(["up", "down", "unknown"], {
      description:
        "unknown: the probe could not check the target, or it got no answer within 6 s and the monitor waits longer",
    }),
    response_ms: Nullable(Type.Integer({ description: "Time to the answer, milliseconds; null without one" })),
    http_status: Nullable(Type.Integer({ description: "Status of the final response; null if it is not HTTP" })),
    error: Nullable(
      Type.Object(
        {
          stage: text("dns, connect, tls, request or response"),
          source: text(`Party that failed: ${SOURCES.join(", ")}`),
          reason: text("Cause as a stable word"),
          message: text("Cause for people"),
        },
        { description: "Why the check failed; null if it did not" },
      ),
    ),
    result: Nullable(
      Type.Unknown({
        description: "Full result of the tool check, dns or ping for the same target; null if it gave no answer",
      }),
    ),
  },
  { description: "The monitor's own check" },
);

const placeOf = (description: string) =>
  Type.Object(
    {
      location: text("Location of the monitor, or region of another probe"),
      check: Check,
      trace: Nullable(answerOf("Result of the tool traceroute")),
    },
    { description },
  );

const Dns = Type.Object(
  {
    location: text("Where it was asked"),
    host: answerOf("Result of the tool dns for the host: A, AAAA and CNAME"),
    zone: Nullable(answerOf("Result of the tool dns for the registered domain of the host: NS and SOA")),
  },
  { description: "DNS as the failing location sees it; null if the target has no name" },
);

const Certificate = Type.Object(
  {
    location: text("Where it was seen"),
    trusted: Type.Boolean({ description: "Whether a browser connects" }),
    trust_error: Nullable(text("Why not, e.g. expired; null if it is trusted")),
    subject: text("Distinguished name of the holder"),
    issuer: text("Distinguished name of the issuer"),
    fingerprint_sha256: text("SHA-256 of the certificate, hexadecimal"),
    not_before: text("Start of validity, ISO 8601 UTC"),
    not_after: text("End of validity, ISO 8601 UTC"),
  },
  { description: "Certificate of the server; null if none was seen" },
);

const Change = Type.Object({
  field: text(
    "addresses, name_servers, certificate, status, redirect_target, records, redirect_ms, dns_ms, connect_ms, tls_ms, " +
      "ttfb_ms, transfer_ms or rtt_ms. A time has changed if it is three times as long and 300 ms longer",
  ),
  before: text("Value at the last good check"),
  after: text("Value now"),
  last_good_at: moment(
    "Time of that check. Status, certificate and most times are those of the newest good check; what only a full result " +
      "has is at most about an hour older, and name servers a day",
  ),
});

const Ping = Type.Object({
  received_at: moment("When it was received"),
  kind: text("success, start, fail, log or exit"),
  exit_code: Nullable(Type.Integer({ description: "Exit code that it reported" })),
  rid: Nullable(text("Id of the run")),
  method: text("HTTP method"),
  remote_addr: text("Address of the sender"),
  user_agent: Nullable(text("User-Agent of the sender")),
  duration_ms: Nullable(Type.Integer({ description: "Duration of the run" })),
  body: Nullable(text("First 1,000 characters of the body")),
  body_truncated: Type.Boolean({ description: "Whether the body is longer" }),
});

const EXAMPLE_CHECK = {
  verdict: "down",
  response_ms: 42,
  http_status: 500,
  error: { stage: "response", source: "target", reason: "http_status", message: "HTTP 500 instead of 200" },
  result: null,
};

/** Shown in the API document. */
const EXAMPLE = {
  gathered_at: "2026-03-01T12:00:04.000Z",
  gathered_for_incident: 12,
  gathered_for_host: "shop.example",
  failing: {
    location: "eu-west",
    check: EXAMPLE_CHECK,
    trace: { status: "ok", data: { host: "shop.example", ip: "192.0.2.1", reached: true, hops: [] } },
  },
  healthy: null,
  dns: null,
  certificate: null,
  changed: [{ field: "status", before: "200", after: "500", last_good_at: "2026-03-01T11:41:00.000Z" }],
  pings: null,
  summary: [
    "HTTP 500 instead of 200 from eu-west and us-east",
    "Changed since the good check at 2026-03-01 11:41 UTC: status 200 -> 500",
    "Fails from everywhere that was checked: eu-west, us-east; the trace from eu-west reaches the target",
  ],
  truncated: false,
};

/** What the service found out about an outage when it was confirmed. At most 256 KB. */
export const EVIDENCE = Type.Object(
  {
    gathered_at: moment("When it was complete"),
    gathered_for_incident: Type.Integer({
      description:
        "Incident for which it was gathered: another one if outages of several monitors with the same target began " +
        "together with the same cause; `changed` is empty then",
    }),
    gathered_for_host: Nullable(
      Type.String({
        description: "Host that was examined; null for a heartbeat",
      }),
    ),
    failing: Nullable(placeOf("A location that fails; null for a heartbeat")),
    healthy: Nullable(placeOf("A location at which the target works; null: none is known")),
    dns: Nullable(Dns),
    certificate: Nullable(Certificate),
    changed: Type.Array(Change, { description: "What differs from the last good check, the most telling first" }),
    pings: Nullable(Type.Array(Ping, { description: "Newest pings of a heartbeat, newest first; null for others" })),
    summary: Type.Array(Type.String(), { description: "Three lines: the cause, what has changed, and where it fails" }),
    truncated: Type.Boolean({ description: "Whether parts were left out, because there is more than 256 KB" }),
  },
  {
    description:
      "What was found when the outage was confirmed. null if it is being gathered (some seconds), the incident was opened " +
      "by hand, or the timeline says why there is none",
    examples: [EXAMPLE],
  },
);
