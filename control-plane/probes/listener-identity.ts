import type { Logger } from "pino";
import type { Clock } from "#shared/clock.ts";
import type { ListenerIdentity, Security } from "#control-plane/dispatch/security.ts";
import type { Authority } from "#control-plane/probes/authority.ts";

const HOUR_MS = 3_600_000;
// A third of the certificate's lifetime: a replica that cannot renew it for weeks still works.
const AHEAD_MS = 30 * 24 * HOUR_MS;

/** Issues the listener's certificate and renews it until `close`. */
export async function openListenerIdentity(
  authority: Pick<Authority, "issueServer">,
  { clock, log, everyMs = HOUR_MS }: { clock: Clock; log: Logger; everyMs?: number },
): Promise<Security["identity"] & { close(): void }> {
  const listeners: ((identity: ListenerIdentity) => void)[] = [];
  let identity = await authority.issueServer();

  async function renew(): Promise<void> {
    if (identity.notAfter.getTime() - clock.now().getTime() > AHEAD_MS) return;
    identity = await authority.issueServer();
    log.info({ until: identity.notAfter }, "listener certificate renewed");
    for (const listener of listeners) listener(identity);
  }
  const timer = setInterval(() => {
    renew().catch((error: unknown) =>
      log.error({ err: error }, "listener certificate could not be renewed; the next attempt follows"),
    );
  }, everyMs);
  timer.unref();

  return {
    current: () => identity,
    onRenew: (listener) => void listeners.push(listener),
    close: () => clearInterval(timer),
  };
}
