import { counted, waitOf } from "#control-plane/surfaces/dashboard/frame/amounts.ts";

// The strings of the page of a monitor.

/** The page of a monitor. */
export const MONITOR = {
  back: "All monitors",
  one: "Back to the monitor",
  run: "Check now",
  pause: "Pause",
  resume: "Resume",
  edit: "Edit",
  clone: "Clone",
  remove: "Delete",
  cancel: "Cancel",
  paused: "This monitor is paused: nothing is checked, and no notifications are sent.",
  pausedByPlan: "The plan of the account allows fewer monitors, so this one is paused.",
  since: (word: string) => `${word} for`,
  checked: "Last check",
  never: "None yet",
  slow: (ms: number) => `It answers, but in more than ${ms.toLocaleString("en")} ms.`,
  waiting: "The first check is on its way.",
  waitingHeartbeat: "The job has not called yet.",
  next: "Next check",
  nextIn: (seconds: number) => (seconds === 0 ? "now" : `in ${waitOf(seconds)}`),
  uptime: "Uptime, 24 hours",
  uptimeSince: (since: string) => `Uptime since ${since}`,
  told: "Notifications go to",
  toldNobody: "Nobody",
  incident: "See the incident",
  acknowledged: "Acknowledged by",
  removeTitle: "Delete a monitor",
  removeHint: "Its checks, its figures and its place on status pages are deleted too. This cannot be undone.",
  removeLabel: "Type its name to delete it",
  removeProblem: "This is not its name. Nothing was deleted.",
} as const;

/** The response times of a monitor. */
export const LATENCY = {
  title: "Response time",
  none: "No response times were measured in this range.",
  ranges: { d1: "24 hours", d7: "7 days", d30: "30 days", d90: "90 days" },
  uptime: "Uptime",
  since: (since: string) => `Uptime since ${since}`,
  noWindow: "\u2013",
  incident: "incident",
  maintenance: "maintenance",
} as const;

/** The newest checks of a monitor. */
export const CHECKS = {
  title: "Checks",
  time: "Time",
  location: "Location",
  verdict: "Result",
  response: "Response",
  code: "HTTP",
  cause: "Cause",
  all: "All checks",
  logTitle: "Checks of",
  any: "Any",
  apply: "Apply",
  back: "Back to the monitor",
  none: "No check matches.",
  noneYet: "It has not been checked yet.",
  onItsWay: "The check is on its way.",
  checked: "Checked",
  answer: (found: string, ms: number | null, cause: string | null, location: string | null) =>
    [
      ms === null ? found : `${found} in ${ms.toLocaleString("en")} ms`,
      ...(location === null ? [] : [`from ${location}`]),
    ].join(" ") + (cause === null ? "" : `, ${cause}`),
  moreAnswers: (count: number) => counted(count, "more location"),
  searchedTo: "Searched back to",
  searchedUpTo: "Searched up to",
  further: "Search further back",
  furtherNewer: "Search further",
  newest: "Newest",
  newer: "Newer",
  older: "Older",
  pages: "Pages of the checks",
} as const;

/** Who gets the notifications of a monitor. */
export const TOLD = {
  title: "Notifications",
  mail: "By mail",
  webhooks: "By webhook",
  webhook: "webhook",
  test: "Send a test mail",
  inactive: "off",
  unsubscribed: "has unsubscribed",
  unconfirmed: "has not confirmed the address yet: the link is in a mail",
  nobody: "Nobody gets a notification when this monitor fails.",
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
  none: "No incidents so far.",
  open: "open for",
  more: (count: number) => `and ${counted(count, "older one")}`,
} as const;

/** What is known about a monitor beside its state. */
export const KNOWN = {
  locations: "Locations",
  location: "Location",
  verdict: "State",
  since: "Since",
  cause: "Cause",
  certificate: "Certificate",
  certificateEnds: "The first certificate of its chain ends",
  domain: "Domain",
  domainEnds: "The registration ends",
  noEnd: (domain: string) => `${domain}: its registry publishes no end. Only presence and status are watched.`,
  days: (days: number) => (days < 0 ? `${counted(-days, "day")} ago` : `in ${counted(days, "day")}`),
  members: "The monitors that it follows",
  pictures: "Pictures",
  accepted: "Accepted",
  latest: "Newest",
  difference: "Difference",
  changed: (percent: number) => `${percent} % differ`,
  accept: "Accept the newest",
  settings: "Settings",
  field: "Setting",
  value: "Value",
  yes: "yes",
  no: "no",
} as const;

/** Maintenance of one monitor from its page. */
export const MUTE = {
  title: "Mute",
  hint: "Checks go on, no notifications are sent, and the time does not count for its uptime.",
  half: "Mute for 30 min",
  two: "Mute for 2 h",
  eight: "Mute for 8 h",
  until: "Until",
  untilHint: "As 2026-12-24 18:00, in your time zone",
  plan: "Plan maintenance for later, or for several monitors",
  untilRange: "Must be a time that is 1 minute to 30 days from now.",
  submit: "Mute until then",
  running: "Maintenance until",
  name: "Muted",
  end: "End now",
} as const;

/** The page of a heartbeat. */
export const HEARTBEAT = {
  address: "Address that the job calls after each run",
  addressHint:
    "Keep it secret: with it, anybody can report for the job. At its end, /start reports a start, /fail a failure, /log a note, and a number such as /3 the exit code. A body that is sent with it is shown below.",
  copy: "Copy",
  cron: "Line for a crontab",
  rotate: "Replace the address",
  rotateTitle: "Replace the address?",
  rotateSentence:
    "The present address stops working at once: jobs that call it are missed until they have the new one.",
  next: "Next runs",
  log: "Newest pings",
  script: "Script that also reports its start and its output",
  scriptHint: "The start gives each run its duration, and the output is shown with the ping.",
  ping: "Last ping",
  noPing: "none yet",
  due: "Late without a ping at",
  late: "Late since",
  running: "Run started",
} as const;

/** The pings of a heartbeat. */
export const PINGS = {
  result: "Result",
  results: {
    success: { word: "Success", tone: "good" },
    fail: { word: "Failure", tone: "bad" },
    start: { word: "Start", tone: "" },
    log: { word: "Log", tone: "" },
  },
  code: (code: number) => `exit code ${code}`,
  run: (id: string) => `run ${id}`,
  took: (duration: string) => `took ${duration}`,
  characters: (count: number, isCut: boolean) => `${counted(count, "character")}${isCut ? ", cut" : ""}`,
  all: "All pings",
  logTitle: "Pings of",
  kept: "The 100 newest are kept.",
  none: "No ping matches.",
  noneYet: "No ping has come yet.",
  pages: "Pages of the pings",
} as const;
