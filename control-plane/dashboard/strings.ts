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

function waitOf(seconds: number): string {
  return seconds < 60 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`;
}
