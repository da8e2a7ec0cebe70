import { counted, waitOf } from "#control-plane/surfaces/dashboard/strings/frame.ts";

// The strings of the sign-in and of people: members, invites, keys, the log of changes.

/** The sign-in. */
export const SIGN_IN = {
  title: "Sign in",
  again: "Confirm that it is you",
  againHint: "You are about to change something that gives access. Give your password again.",
  email: "Email",
  password: "Password",
  submit: "Sign in",
  goOn: "Continue",
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
  emailProblem: "Must be an email address such as ops@example.com.",
} as const;

/** The profile of a user. */
export const PROFILE = {
  title: "Your profile",
  email: "Email",
  role: "Role in this account",
  operator: "You are the operator of this service.",
  timezoneTitle: "Time zone",
  timezone: "Time zone of all times in these pages",
  timezoneProblem: "Must be a name of the IANA time zone database such as Europe/Dublin.",
  save: "Save",
  passwordTitle: "Password",
  current: "Current password",
  next: "New password",
  change: "Change the password",
  changeHint: "All other sessions end.",
  wrong: "The current password is wrong.",
  accountsTitle: "Accounts",
  accountsIntro: "You are a member of several accounts. These pages show one at a time.",
  shown: "Shown now",
  switchTo: "Switch to it",
  sessionsTitle: "Where you are signed in",
  signedIn: "Signed in",
  used: "Last used",
  here: "This session",
  unknownProgram: "Unknown browser",
  end: "End",
  endOthers: "End all other sessions",
  endLabel: (program: string, address: string) => `End the session of ${program} from ${address}`,
  account: (id: number, email: string | null) => email ?? `Account ${id}`,
} as const;

/** The members of an account, and invites. */
export const MEMBERS = {
  title: "Members",
  email: "Email",
  role: "Role",
  since: "Since",
  action: "Action",
  you: "you",
  notConfirmed: "not confirmed",
  roleOf: (email: string) => `Role of ${email}`,
  change: "Change",
  remove: "Remove",
  removeOf: (email: string) => `Remove ${email}`,
  leave: "Leave",
  lastOwner: "An account needs an owner. Make another member one first.",
  gone: "There is no such member.",
  notAllowed: "You are no owner of the account any more.",
  roles: { owner: "Owner", editor: "Editor", viewer: "Viewer" },
  roleHint: "An owner may do everything. An editor may change monitors, incidents and pages. A viewer may look.",
  removeTitle: (email: string) => `Remove ${email}?`,
  removeSentence: (email: string) => `${email} can no longer sign in to this account. All sessions there end.`,
  leaveTitle: "Leave this account?",
  leaveSentence: "You can no longer sign in to it. Only another owner can invite you again.",
  lowerTitle: (email: string) => `Lower the role of ${email}?`,
  lowerSentence: (email: string, role: string) => `${email} becomes ${role}, and signs in again.`,
  demoteTitle: "Give up your role as owner?",
  demoteSentence: "You sign in again. Only another owner can give the role back to you.",
  inviteTitle: "Invite somebody",
  inviteEmail: "Email (optional)",
  inviteHint: "Only this address can use the invite. Without one, anybody who has the link can.",
  inviteMailed: "The invite is mailed there.",
  emailProblem: "Must be an email address such as ops@example.com, or empty.",
  invite: "Create the invite",
  invitesTitle: "Open invites",
  anybody: "anybody with the link",
  until: "Until",
  revoke: "Revoke",
  revokeOf: (email: string) => `Revoke the invite for ${email}`,
  createdTitle: "The invite",
  created: "This link is shown only now. It works once, until",
  mailed: (email: string) => `It is mailed to ${email}, too.`,
  giveLink: "Give the link to its owner yourself.",
  link: "Link",
  copy: "Copy",
  back: "Back to the members",
  tooMany: "There are 100 open invites. Revoke one first.",
  tooManyMailed:
    "This account has mailed 50 invites in the last hour. Wait an hour, or create invites without an address.",
} as const;

/** Why an invite was not mailed. */
export const NOT_MAILED = {
  recipient: "No mail was sent: this address got 3 invites in the last day.",
  account: "No mail was sent: this account has mailed 50 addresses that have not confirmed in the last hour.",
  service: "No mail was sent: this service has mailed 1,000 addresses that have not confirmed in the last hour.",
} as const;

/** What a member has made, in the forms that remove the member or lower the role. */
export const BELONGINGS = {
  invites: "These open invites end:",
  keys: "API keys to revoke",
  key: (name: string | null, prefix: string, used: string | null) =>
    `${name ?? KEYS.unnamed} (${prefix}...), ${used === null ? KEYS.unused : `last used ${used}`}`,
  mails: "Mail about monitors",
  address: (email: string, names: string, others: number) =>
    `Take ${email} out of notify_emails of ${names}${others === 0 ? "" : ` and ${others} more`}. ` +
    "A monitor that mails to nobody else then mails to the address of the account.",
} as const;

/** The page of an invite. */
export const INVITE = {
  title: "You are invited",
  toAccount: (account: string, role: string) => `You are invited to the account ${account} with the role ${role}.`,
  toNew: "You are invited to open an account of your own.",
  nameless: (id: number) => `number ${id}`,
  signedIn: (email: string) => `You are signed in as ${email}.`,
  otherAddress: (email: string) => `This invite is for another address than ${email}. Sign out to use it.`,
  join: "Join",
  email: "Email",
  password: "Password",
  passwordHint: "If you have signed in here before, your password. Otherwise choose one of at least 10 characters.",
  submit: "Join",
  mailIntro: "Give your address. You get a mail with a link by which you join.",
  mail: "Send the mail",
  mailedTo: (email: string) => `You join as ${email}.`,
  sentTitle: "Look into your mail",
  sent: "A mail is on its way to this address. Its link works once.",
  usedUp: "No mail was sent: this invite was mailed 3 times already. Ask for another one.",
  wrongAddress: "This invite is for another address.",
  expiredTitle: "This invite does not work any more",
  expired: "It works once, for a limited time, and while its maker is an owner of the account. Ask for another one.",
  orphaned: {
    lowered: "Who made this invite is no owner of the account any more. Ask for another one.",
    unknown: "Nobody knows any more who made this invite. Ask for another one.",
  },
} as const;

/** The API keys of an account. */
export const KEYS = {
  title: "API keys",
  usage: "Usage",
  minute: "Requests in this minute",
  day: "Requests in this day (UTC)",
  count: "Keys",
  of: (used: number, limit: number) => `${used.toLocaleString("en")} of ${limit.toLocaleString("en")}`,
  name: "Name",
  start: "Begins with",
  scopes: "Scopes",
  created: "Created",
  used: "Last used",
  unused: "no use noted",
  action: "Action",
  none: "There are no keys.",
  unnamed: "without a name",
  allScopes: "all",
  revoke: "Revoke",
  revokeOf: (name: string) => `Revoke ${name}`,
  revokeTitle: (name: string) => `Revoke ${name}?`,
  revokeSentence: "Programs that use this key are refused from now on. It cannot be brought back.",
  gone: "There is no such key.",
  createTitle: "Create a key",
  nameLabel: "Name (optional)",
  nameHint: "What it is for, such as grafana.",
  nameProblem: (most: number) => `Must have at most ${counted(most, "character")}.`,
  scopesHint: "What the key may call. None chosen: all scopes of the plan, also those that it gets later.",
  create: "Create the key",
  createdTitle: "The new key",
  shownOnce: "It is shown only now. Keep it where secrets are kept.",
  key: "Key",
  copy: "Copy",
  back: "Back to the keys",
} as const;

/** The log of changes. */
export const CHANGES = {
  title: "Log of changes",
  intro: "Who changed what of this account, newest first. A change is kept for a year.",
  from: "From",
  none: "Nothing has changed yet.",
  operator: "the operator",
  system: "the service",
  key: (name: string) => `key ${name}`,
  newer: "Newer",
  older: "Older",
  pages: "Pages of the log",
  resources: {
    account: "account",
    audit_secret: "audit secret",
    incident: "incident",
    invite: "invite",
    key: "API key",
    maintenance: "maintenance",
    member: "member",
    monitor: "monitor",
    session: "session",
    status_page: "status page",
    webhook: "webhook",
  },
} as const;

/** A new password by mail, and the sign-up. */
export const BY_MAIL = {
  email: "Email",
  send: "Send the mail",
  sentTitle: "Look into your mail",
  resetTitle: "Forgot your password?",
  resetIntro: "You get a mail with a link by which you choose a new one.",
  resetSent: "If this address can sign in here, a mail with a link is on its way. The link works once, for an hour.",
  newTitle: "Choose a new password",
  newIntro: "All your sessions end, and you are signed in here.",
  password: "New password",
  save: "Save the password",
  claimIntro:
    "Somebody gave this address without a proof that it is theirs. Now you have proved that it is yours. Say which accounts are yours: the others keep their members, but lose your address.",
  claim: (account: string, role: string) => `${account}, with the role ${role}`,
  choose: "Choose one",
  mine: "Mine",
  notMine: "Not mine",
  claimProblem: "Must be Mine or Not mine.",
  noneTitle: "There is no account",
  none: "None of the accounts was yours, and your address is in none of them any more.",
  expiredTitle: "This link does not work any more",
  expired: "It works once, for an hour.",
  again: "Ask for another one",
  signUpTitle: "Open an account",
  signUpIntro: "You get a mail with a link by which you choose a password.",
  signUpSent: "A mail is on its way to this address. Its link works once, for 7 days.",
  signUp: "Open an account",
  signIn: "Sign in",
} as const;

/** The page that is shown in place of one of another account of the user. */
export const OTHER_ACCOUNT = {
  title: "This is in another account of yours",
  intro: "What this link leads to belongs to the account",
  switchTo: "Switch to it and continue",
} as const;
