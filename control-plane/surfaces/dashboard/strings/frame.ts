// The strings of the frame of every page.

/** The frame of every page. */
export const FRAME = {
  brand: "Vantage",
  skip: "Skip to the content",
  main: "Main",
  monitors: "Monitors",
  incidents: "Incidents",
  maintenance: "Maintenance",
  statusPages: "Status pages",
  tools: "Tools",
  account: "Your profile",
  members: "Members",
  keys: "API keys",
  changes: "Log of changes",
  signOut: "Sign out",
  signIn: "Sign in",
  signedOut: "You are signed out.",
  zone: "Times are in",
  lost: "This page could not be refreshed. It shows how things were before.",
  back: "Back to the monitors",
  notFound: "Not found",
  noPage: "There is no such page.",
  refused: "Not allowed",
  tooMany: "Too many requests",
  failed: "This did not work",
  keysTitle: "Keys",
  keySearch: "Go to the search",
  keyRows: "Next and previous row",
  keyHelp: "Show these keys",
  close: "Close",
} as const;

/** What a page says after a form has done its work, by the code in the page's address. */
export const DONE: Readonly<Record<string, string>> = {
  signed_out: FRAME.signedOut,
  created: "The monitor is created.",
  waiting: "The monitor is created. It waits for the first ping.",
  saved: "The monitor is saved.",
  pause: "The monitor is paused.",
  resume: "The monitor runs again.",
  pasted: "The monitors are created.",
  bulk: "The monitors are changed.",
  deleted: "The monitor is deleted.",
  muted: "The monitor is muted.",
  unmuted: "The maintenance has ended.",
  rotated: "The address is replaced. The old one does not work any more.",
  accepted: "The newest picture is accepted.",
  password: "Your password is changed. All other sessions have ended.",
  timezone: "Your time zone is saved.",
  session_ended: "The session has ended.",
  sessions_ended: "All other sessions have ended.",
  role: "The role is changed. The member signs in again.",
  member_removed: "The member is removed.",
  invite_revoked: "The invite does not work any more.",
  key_revoked: "The key is revoked.",
  incident_opened: "The incident is open.",
  incident_acknowledged: "The incident is acknowledged.",
  incident_unacknowledged: "The acknowledgement is taken back.",
  incident_noted: "The note is in the timeline.",
  incident_published: "The update is published.",
  incident_edited: "The incident is changed.",
  incident_resolved: "The incident is resolved.",
  window_created: "The maintenance is planned.",
  window_saved: "The maintenance is saved.",
  window_cancelled: "The maintenance is cancelled.",
  window_restored: "The maintenance is planned again.",
  window_deleted: "The maintenance is deleted.",
  page_created: "The page is created.",
  page_saved: "The page is saved.",
  page_deleted: "The page is deleted.",
  subscriber_removed: "The subscriber is removed.",
  domain_asked: "The record of the domain is looked for now.",
};

/** Pages that ask before something is done. */
export const CONFIRMATION = { cancel: "Cancel" } as const;

/** Writes a number with its noun: "1 monitor", "2,000 monitors". */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

/** Writes a time to wait in seconds: "40 s", "3 min". */
export function waitOf(seconds: number): string {
  return seconds < 60 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`;
}
