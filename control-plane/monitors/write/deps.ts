import type { CheckContext } from "#control-plane/checks/context.ts";
import type { App } from "#control-plane/core/app.ts";
import type { Heartbeats } from "#control-plane/watching/heartbeats/heartbeats.ts";
import type { Mail } from "#control-plane/notify/mail/mail.ts";
import type { Plans } from "#control-plane/core/plans.ts";
import type { Encryption } from "#control-plane/core/secrets/encryption.ts";

/** Dependencies of the writes. */
export interface WriteDeps extends Pick<App, "clock"> {
  readonly checks: Pick<CheckContext, "hub" | "optOut">;
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
