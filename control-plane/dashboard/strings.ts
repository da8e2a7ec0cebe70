// The strings of the dashboard, by view.

/** The frame of every page. */
export const FRAME = {
  brand: "Vantage",
  skip: "Skip to the content",
  main: "Main",
  monitors: "Monitors",
  incidents: "Incidents",
  statusPages: "Status pages",
  tools: "Tools",
  account: "Your profile",
  members: "Members",
  keys: "API keys",
  changes: "Log of changes",
  signOut: "Sign out",
  signIn: "Sign in",
  back: "Back to the monitors",
  notFound: "Not found",
  refused: "Not allowed",
  failed: "This did not work",
  switchAccount: "Account",
} as const;

/** What a page says after a form has done its work, by the code in the page's address. */
export const DONE: Readonly<Record<string, string>> = {
  signed_out: "You are signed out.",
  created: "The monitor is created. Its first check is on its way.",
  saved: "The monitor is saved.",
  run: "The check is on its way.",
  pause: "The monitor is paused.",
  resume: "The monitor runs again.",
  deleted: "The monitor is deleted.",
  password: "Your password is changed. All other sessions have ended.",
};

/** The sign-in. */
export const SIGN_IN = {
  title: "Sign in",
  again: "Confirm that it is you",
  againHint: "You are about to change something that gives access. Give your password again.",
  email: "Email",
  password: "Password",
  submit: "Sign in",
  forgot: "Forgot your password?",
  wrong: "Email or password is wrong.",
  busy: "Too many people sign in at this moment. Try again in a few seconds.",
  homeless: "You are not a member of any account any more. Ask an owner for an invite.",
  limited: (seconds: number) => `Too many failed sign-ins. Wait ${waitOf(seconds)}.`,
} as const;

/** The first start, by the link of the terminal. */
export const START = {
  title: "Welcome to Vantage",
  intro: "Choose the email address and the password with which you sign in from now on.",
  email: "Email",
  password: "Password",
  passwordHint: "At least 10 characters. A sentence is good.",
  submit: "Start",
  expiredTitle: "This link does not work any more",
  expired: "It works once, for 15 minutes. Print another one where the service runs:",
  foreign: "This address belongs to a user with other accounts. Sign in with its password, or use another address.",
  emailProblem: "must be an email address such as ops@example.com",
} as const;

/** The list of monitors. */
export const MONITORS = {
  title: "Monitors",
  add: "Add a monitor",
  addFirst: "Add your first monitor",
  paste: "Paste addresses",
  search: "Search",
  state: "State",
  kind: "Kind",
  tag: "Tag",
  sort: "Sort by",
  sorts: { state: "What fails first", name: "Name", newest: "Newest first" },
  any: "Any",
  failing: "Down or degraded",
  filter: "Apply",
  all: "Show all",
  allCount: "all",
  shown: "Shown:",
  more: "Show the rest",
  count: "monitors",
  none: "No monitors yet",
  noneHint: "A monitor checks a site, a name or a job again and again, and tells you when it fails.",
  noMatch: "No monitor matches.",
  never: "not checked yet",
  since: "for",
  flapping: "flapping",
  checked: "checked",
  ago: "ago",
} as const;

/** The page of a monitor. */
export const MONITOR = {
  back: "All monitors",
  run: "Check now",
  pause: "Pause",
  resume: "Resume",
  edit: "Edit",
  clone: "Clone",
  remove: "Delete",
  cancel: "Cancel",
  paused: "This monitor is paused: nothing is checked, and nobody is told.",
  pausedByPlan: "The plan of the account allows fewer monitors, so this one is paused.",
  changed: "Last change",
  checked: "checked",
  never: "not checked yet",
  next: (seconds: number) => `next check in ${waitOf(seconds)}`,
  removeTitle: "Delete a monitor",
  removeHint: "Its checks, its figures and its place on status pages are deleted too. This cannot be undone.",
  removeLabel: "Type its name to delete it",
  removeProblem: "This is not its name. Nothing was deleted.",
} as const;

/** The newest checks of a monitor. */
export const CHECKS = {
  title: "Checks",
  time: "Time",
  location: "Location",
  verdict: "Verdict",
  response: "Response",
  cause: "Cause",
} as const;

/** Who is told when a monitor fails. */
export const TOLD = {
  title: "Who is told",
  mail: "By mail",
  webhooks: "By webhook",
  webhook: "webhook",
  test: "Send a test mail",
  inactive: "off",
  unsubscribed: "has unsubscribed",
  unconfirmed: "has not confirmed the address yet: the link is in a mail",
  nobody: "Nobody is told when this monitor fails.",
  somebody: (isMailed: boolean, webhooks: number) =>
    [
      ...(isMailed ? ["Mail"] : []),
      ...(webhooks === 0 ? [] : [webhooks === 1 ? "one webhook" : `${webhooks} webhooks`]),
    ]
      .join(" and ")
      .replace(/^o/, "O"),
  states: {
    off: "Mail is off for it. Turn it on, or add a webhook.",
    mail_not_configured: "This service sends no mail: its operator has not set a mail server.",
    no_recipient: "No address is confirmed.",
    mail_failing: "The last mail was not accepted by the mail server.",
    ok: "",
  },
} as const;

/** The incidents of a monitor. */
export const MONITOR_INCIDENTS = {
  title: "Incidents",
  none: "None so far.",
  open: "open for",
  more: (count: number) => `and ${count} older ones`,
} as const;

/** The form of a monitor. */
export const FORM = {
  title: "Add a monitor",
  editTitle: "Edit the monitor",
  choose: "What should be watched?",
  orPaste: "Or paste many addresses at once",
  try: "Try it",
  tryAgain: "Try again",
  save: "Save",
  saveUntried: "Save without a try",
  cancel: "Cancel",
  groups: {
    what: "What is watched",
    who: "Who is told",
    when: "When, and from where",
    expect: "What counts as up",
    request: "What is sent",
    more: "More",
  },
  choices: {
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
  } as Readonly<Record<string, string>>,
  triedUp: "It works.",
  triedDegraded: "It works, but slowly.",
  triedDown: "It does not work now.",
  triedUnknown: "Nothing can be said about it now.",
  triedWithoutSecrets: "Stored secrets are not sent with a try: what needs them can answer otherwise.",
  nextRuns: "The next runs",
  copied: "Secrets were not copied. Type them again.",
} as const;

/** Labels and hints of the fields of a monitor, by their paths in the API. `url <kind>`: that of the target of a kind. */
export const FIELD_WORDS: Readonly<Record<string, { readonly label: string; readonly hint?: string }>> = {
  url: { label: "Address", hint: "Such as https://example.com/health" },
  "url ssl": { label: "Host", hint: "Such as example.com" },
  "url domain": { label: "Domain", hint: "Such as example.com" },
  "url dns": { label: "Name", hint: "Such as example.com" },
  "url ping": { label: "Host", hint: "A name or an IP address" },
  "url port": { label: "Host", hint: "A name or an IP address" },
  "url tcp": { label: "Host", hint: "A name or an IP address" },
  "url grpc": { label: "Host", hint: "A name or an IP address" },
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
    hint: "Number of a monitor: while that one is down, nobody is told about this one",
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
  "json.value": { label: "This value", hint: "A number, true, false, null or text" },
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
  "heartbeat.grace_seconds": { label: "Grace (seconds)", hint: "How late a run may be" },
  "heartbeat.methods": { label: "Requests that count" },
  "composite.monitor_ids": { label: "Monitors", hint: "Their numbers, with spaces between them" },
  "composite.down_when": { label: "Down when these are down" },
  "composite.percent": { label: "Share (percent)" },
};

function waitOf(seconds: number): string {
  return seconds < 60 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`;
}
