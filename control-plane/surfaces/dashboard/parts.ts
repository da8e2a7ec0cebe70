import type { Clock } from "#shared/time/clock.ts";
import type { Accounts } from "#control-plane/accounts/accounts.ts";
import type { Changes } from "#control-plane/accounts/changes/changes.ts";
import type { Keys } from "#control-plane/accounts/keys/keys.ts";
import type { CheckContext } from "#control-plane/checks/context.ts";
import type { Measurements } from "#control-plane/checks/measurements/measurements.ts";
import type { Presence } from "#control-plane/checks/dispatch/presence.ts";
import type { Sql } from "#control-plane/core/database/connect.ts";
import type { Turns } from "#control-plane/core/database/turns.ts";
import type { Plans } from "#control-plane/core/plans.ts";
import type { AddressLimiter } from "#control-plane/http/access/ports.ts";
import type { RecordChanges } from "#control-plane/http/access/changes.ts";
import type { Gate } from "#control-plane/http/gate.ts";
import type { Monitors } from "#control-plane/monitors/monitors.ts";
import type { Trials } from "#control-plane/monitors/try/try.ts";
import type { TestMails } from "#control-plane/notify/mail/test-mails.ts";
import type { Webhooks } from "#control-plane/notify/webhooks/webhooks.ts";
import type { History } from "#control-plane/outages/history/history.ts";
import type { ReadEvidence } from "#control-plane/outages/incidents/incidents.ts";
import type { IncidentWrites } from "#control-plane/outages/incidents/writes.ts";
import type { Maintenance } from "#control-plane/outages/maintenance/maintenance.ts";
import type { Users } from "#control-plane/people/users/users.ts";
import type { StatusPages } from "#control-plane/public/status-pages/status-pages.ts";
import type { Subscribers } from "#control-plane/public/status-pages/subscribers/subscribers.ts";
import type { SessionGuard } from "#control-plane/surfaces/dashboard/session-guard/session-guard.ts";
import type { MemberWrites } from "#control-plane/surfaces/dashboard/session-guard/member-writes.ts";
import type { Overviews } from "#control-plane/surfaces/dashboard/monitors/overviews.ts";
import type { Pictures } from "#control-plane/watching/pictures/pictures.ts";

/** What the pages of the dashboard are made of. Each names in its signature the parts that it takes. */
export interface Dashboard {
  /** Admits members to pages. */
  readonly guard: SessionGuard;
  /** Runs writes of members. */
  readonly writes: MemberWrites;
  readonly overviews: Overviews;
  /** Connections to the database; on the pages of sign-ins and profiles those that nothing else takes. */
  readonly sql: Sql;
  readonly turns: Turns;
  readonly clock: Clock;
  /** Address of the service, without a slash at its end. */
  readonly baseUrl: string;
  /** Whether the service is reached under https. */
  readonly isSecure: boolean;
  /** Whether the service sends mail. */
  readonly canMail: boolean;
  /** Whether anybody may open an account, by mail. */
  readonly canSignUp: boolean;
  /** Limits requests of people who are not signed in, by client address. */
  readonly visits: AddressLimiter;
  readonly users: Users;
  readonly accounts: Accounts;
  /** Finds the name of an account, its email address; null if it has none, or there is no such account. */
  readonly nameOf: (accountId: number) => Promise<string | null>;
  readonly keys: Keys;
  readonly plans: Plans;
  readonly changes: Changes;
  /** Logs changes. */
  readonly record: RecordChanges;
  readonly monitors: Monitors;
  readonly trials: Trials;
  readonly history: Pick<History, "halfHours" | "latency" | "searchChecks">;
  readonly pictures: Pick<Pictures, "find">;
  readonly maintenance: Maintenance;
  readonly incidents: IncidentWrites;
  readonly evidenceOf: ReadEvidence;
  readonly webhooks: Webhooks;
  readonly testMails: TestMails;
  readonly statusPages: StatusPages;
  readonly subscribers: Subscribers;
  readonly checks: CheckContext;
  readonly presence: Presence;
  readonly gate: Pick<Gate, "admitMember">;
  readonly measurements: Pick<Measurements, "share">;
}
