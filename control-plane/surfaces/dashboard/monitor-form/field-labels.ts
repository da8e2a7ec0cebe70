import type { CheckType } from "#control-plane/outages/kinds/kinds.ts";

/** The label of a field of a monitor, and a hint at its value. */
interface FieldLabels {
  readonly label: string;
  readonly hint?: string;
}

/** Returns the label and the hint of a field of a monitor, by its path in the API. `checkType`: the kind of the monitor. */
export function labelsOf(path: string, checkType: CheckType | null = null): FieldLabels {
  return FIELD_LABELS[path === "url" ? `url ${checkType}` : path] ?? FIELD_LABELS[path] ?? { label: path };
}

/** By the path of the field. `url <kind>`: that of the target of a kind. */
const FIELD_LABELS: Readonly<Record<string, FieldLabels>> = {
  url: { label: "Address", hint: "Such as https://example.com/health" },
  "url ssl": { label: "Host", hint: "Such as example.com" },
  "url domain": { label: "Domain", hint: "Such as example.com" },
  "url dns": { label: "Name", hint: "Such as example.com" },
  "url ping": { label: "Host", hint: "A name or an IP address" },
  "url port": { label: "Host", hint: "A name or an IP address" },
  "url tcp": { label: "Host and port", hint: "Such as mail.example.com:25. A protocol below has a port of its own" },
  "url grpc": { label: "Host and port", hint: "Such as api.example.com:443" },
  "url websocket": { label: "Address", hint: "Such as wss://example.com/socket" },
  name: { label: "Name", hint: "In lists, mails and on status pages. Empty: the address" },
  tags: { label: "Tags", hint: "Words of a-z, 0-9 and : _ . / - with spaces between them" },
  notify_email: { label: "Send mail when it fails" },
  notify_emails: {
    label: "Mail to",
    hint: "One address a line. Empty: the address of the account. Each is asked to confirm first",
  },
  notify_advisories: { label: "Send mail about warnings too" },
  repeat_minutes: { label: "Remind every (minutes)", hint: "Empty: no reminders" },
  depends_on: {
    label: "Depends on monitor",
    hint: "Number of a monitor: while that one is down, notifications of this one wait",
  },
  port: { label: "Port" },
  keyword: { label: "Text", hint: "What the page must or must not have" },
  keyword_mode: { label: "The text" },
  interval_minutes: { label: "Check every (minutes)", hint: "Empty: 5" },
  locations: {
    label: "Locations",
    hint: "One a line: a region, country, city, tag or probe:<id>. Empty: up to three regions",
  },
  quorum: { label: "Down when this many locations fail", hint: "majority, or a number. Empty: majority" },
  retries: { label: "Checks that must fail again", hint: "With one location. Empty: 2" },
  recovery: { label: "Good checks until it is up again", hint: "Empty: 1" },
  timeout_seconds: { label: "Time limit (seconds)", hint: "Empty: 15" },
  expected_codes: { label: "Expected statuses", hint: "Such as 200, 2xx or 200-399. Empty: 200" },
  degraded_ms: { label: "Slow from (milliseconds)", hint: "Empty: never slow" },
  "json.path": { label: "Value in the JSON", hint: "A JSONPath such as $.status. Empty: no condition" },
  "json.op": { label: "It" },
  "json.value": {
    label: "This value",
    hint: 'A number, true, false, null or text. Text that looks like one of them: in quotes, as "1"',
  },
  method: { label: "Method" },
  request_headers: {
    label: "Header fields",
    hint: "One a line, as Name: value. They are stored encrypted and shown as ****",
  },
  body: { label: "Body of a POST", hint: "Stored encrypted, shown as ****" },
  follow: { label: "Follow redirects" },
  watch_domain: { label: "Watch the registration of the domain too" },
  "dns.type": { label: "Record" },
  "dns.op": { label: "The records" },
  "dns.values": { label: "Values", hint: "One a line, as in a zone file" },
  "dns.dnssec": { label: "DNSSEC" },
  "tcp.preset": { label: "Protocol" },
  "tcp.tls": { label: "TLS" },
  "tcp.send": { label: "Text to send", hint: "Stored encrypted, shown as ****" },
  "tcp.send_hex": {
    label: "Bytes to send instead",
    hint: "In hexadecimal, such as 05 01 00. Stored encrypted, shown as ****",
  },
  "tcp.expect": { label: "Text that the answer has" },
  "grpc.service": { label: "Service", hint: "Empty: the server as a whole" },
  "grpc.tls": { label: "TLS" },
  "grpc.metadata": { label: "Metadata", hint: "One a line, as name: value. Stored encrypted, shown as ****" },
  "websocket.subprotocol": { label: "Subprotocol" },
  "websocket.send": { label: "Message to send", hint: "Stored encrypted, shown as ****" },
  "websocket.expect": { label: "Text that a message has" },
  "visual.viewport.width": { label: "Width of the window (pixels)", hint: "Empty: 1280" },
  "visual.viewport.height": { label: "Height of the window (pixels)", hint: "Empty: 800" },
  "visual.full_page": { label: "Picture of the whole page" },
  "visual.wait_ms": { label: "Wait after loading (milliseconds)", hint: "Empty: 0" },
  "visual.threshold_percent": { label: "Changed when more than this differs (percent)", hint: "Empty: 0.1" },
  "heartbeat.cron": { label: "Schedule", hint: "As in a crontab, such as 30 2 * * *. Empty: by the period below" },
  "heartbeat.timezone": { label: "Time zone of the schedule", hint: "Such as Europe/Berlin. Empty: UTC" },
  "heartbeat.period_seconds": {
    label: "Period (seconds)",
    hint: "Time from one run to the next, without a schedule. Empty: 300",
  },
  "heartbeat.grace_seconds": { label: "Grace (seconds)", hint: "How late a run may be. Empty: 60" },
  "heartbeat.methods": { label: "Requests that count" },
  "composite.monitor_ids": { label: "Monitors", hint: "Their numbers, with spaces between them" },
  "composite.down_when": { label: "Down when these are down" },
  "composite.percent": { label: "Share (percent)" },
};

/** Returns the word of a value of a select. A value that has none, such as one that no form of ours has sent, is its own word. */
export function choiceOf(value: string): string {
  return Object.hasOwn(CHOICE_WORDS, value) ? (CHOICE_WORDS[value] ?? value) : value;
}

const CHOICE_WORDS: Readonly<Record<string, string>> = {
  "": "None",
  present: "must be there",
  absent: "must not be there",
  any: "any",
  all: "all",
  percent: "a share",
  none: "none",
  starttls: "STARTTLS",
  implicit: "from the first byte",
  not_bogus: "must not be broken",
  secure: "must be signed and valid",
  ignore: "does not matter",
  equals: "equals",
  not_equals: "does not equal",
  contains: "contains",
  not_contains: "does not contain",
  exists: "exists",
  less: "is less than",
  greater: "is greater than",
  post: "POST only",
};
