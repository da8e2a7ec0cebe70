import type { Clock } from "#shared/clock.ts";
import type { CheckContext } from "#control-plane/checks/context.ts";
import type { Heartbeats } from "#control-plane/heartbeats/heartbeats.ts";
import type { Mail } from "#control-plane/mail/mail.ts";
import type { Plans } from "#control-plane/plans/plans.ts";
import type { Encryption } from "#control-plane/secrets/encryption.ts";

/** Dependencies of the writes. */
export interface WriteDeps {
  readonly checks: Pick<CheckContext, "hub" | "optOut">;
  readonly clock: Clock;
  readonly encryption: Encryption;
  readonly plans: Plans;
  readonly heartbeats: Heartbeats;
  readonly mail: Pick<Mail, "recipients">;
}

/** One monitor of an account. */
export interface OwnMonitor {
  readonly accountId: number;
  readonly id: number;
}
