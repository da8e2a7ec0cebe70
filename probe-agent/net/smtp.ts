import { isIPv6 } from "node:net";
import type { Clock } from "#shared/time/clock.ts";
import type { Egress } from "#shared/internet/egress.ts";
import { ok, refused } from "#shared/contracts/outcome.ts";
import { dial } from "#probe-agent/net/http/dial.ts";
import type { JobLimits } from "#probe-agent/port/job-limits.ts";
import type { SmtpPort } from "#probe-agent/port/smtp.ts";
import { createLink } from "#probe-agent/net/smtp/link.ts";

/** Dependencies of the SMTP port. */
interface SmtpDeps {
  readonly clock: Clock;
  readonly egress: Egress;
}

/**
 * Creates the SMTP port. It connects only to vetted addresses, vets the peer again after connecting, and observes the
 * job's deadline.
 */
export function createSmtp({ clock, egress }: SmtpDeps): (job: JobLimits) => SmtpPort {
  return (job) => ({
    async connect({ ip, port, timeoutMs }) {
      if (!egress.allowsAddress(ip)) return refused;
      const startedAt = clock.monotonic();
      const deadline = Math.min(job.deadline, startedAt + timeoutMs);
      const leftMs = Math.max(0, Math.ceil(deadline - startedAt));
      const signal = AbortSignal.any([job.signal, AbortSignal.timeout(leftMs)]);
      const dialed = await dial([{ ip, version: isIPv6(ip) ? 6 : 4 }], port, { clock, signal, deadline, egress });
      if (dialed.status !== "ok") return dialed;
      return ok(createLink(dialed.data.socket, { clock, job, connectMs: clock.monotonic() - startedAt }));
    },
  });
}
