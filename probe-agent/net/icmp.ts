import type { Egress } from "#shared/egress.ts";
import { failed, ok, refused, type Outcome } from "#shared/outcome.ts";
import type { IcmpHost } from "#probe-agent/net/icmp/host.ts";
import type { JobLimits } from "#probe-agent/port/job-limits.ts";
import type { EchoReply, EchoRun, IcmpPort } from "#probe-agent/port/packets.ts";

/**
 * Creates the echo port, which uses the agent's ICMP process. It vets each address again. Failures have source probe
 * and stage request: icmp_process_lost, unsupported (no raw socket for the family), network_unreachable,
 * host_unreachable, not_permitted, message_too_long, send_failed, cancelled (the job ended first).
 */
export function createIcmp(deps: { readonly host: IcmpHost; readonly egress: Egress }): (job: JobLimits) => IcmpPort {
  return (job) => ({
    available() {
      const { v4, v6 } = deps.host.capabilities();
      return { v4, v6 };
    },
    echo(request, onReply) {
      if (!deps.egress.allowsAddress(request.ip)) return Promise.resolve(refused);
      const replies: EchoReply[] = [];
      return new Promise<Outcome<EchoRun>>((resolve) => {
        const end = (outcome: Outcome<EchoRun>): void => {
          job.signal.removeEventListener("abort", abort);
          resolve(outcome);
        };
        const cancel = deps.host.start({ kind: "echo", request }, (event) => {
          if (event.kind === "reply") {
            replies.push(event.reply);
            onReply(event.reply);
          } else if (event.kind === "echo_done") end(ok({ replies, clockErrorMs: event.clockErrorMs }));
          else if (event.kind === "failed") end(failed("request", "probe", event.reason, event.message));
        });
        function abort(): void {
          cancel();
          end(failed("request", "probe", "cancelled", "the check ended before the echo run completed"));
        }
        if (job.signal.aborted) return abort();
        job.signal.addEventListener("abort", abort);
      });
    },
  });
}
