import type { Egress } from "#shared/internet/egress.ts";
import { failed, ok, overloaded, refused, type Failed, type Outcome } from "#shared/contracts/outcome.ts";
import type { IcmpHost } from "#probe-agent/net/icmp/host.ts";
import type { JobLimits } from "#probe-agent/port/job-limits.ts";
import { cancelled } from "#probe-agent/threads/cancelled.ts";
import type { EchoReply, EchoRequest, EchoRun, IcmpPort } from "#probe-agent/port/packets.ts";

/** A reply that is missing tells nothing about the target if the ICMP process was held up for longer, milliseconds. */
const MAX_LAG_MS = 1_000;
/** Delay of the messages from and to a process that is not held up, in milliseconds. */
const MARGIN_MS = 100;

/**
 * Creates the echo port, which uses the agent's ICMP process. It vets each address again. Failures have source probe
 * and stage request: icmp_process_lost, unsupported (no raw socket for the family), network_unreachable,
 * host_unreachable, not_permitted, message_too_long, send_failed, cancelled (the job ended first), probe_overloaded (the
 * process got too little processor time).
 */
export function createIcmp(deps: { readonly host: IcmpHost; readonly egress: Egress }): (job: JobLimits) => IcmpPort {
  return (job) => ({
    async ready() {
      await Promise.race([deps.host.ready(), cancelled(job.signal)]);
    },
    available() {
      const { v4, v6 } = deps.host.capabilities();
      return { v4, v6 };
    },
    echo(request, onReply) {
      if (!deps.egress.allowsAddress(request.ip)) return Promise.resolve(refused);
      const replies: EchoReply[] = [];
      let isDue = false;
      const due = setTimeout(() => (isDue = true), durationOf(request) + MARGIN_MS);
      return new Promise<Outcome<EchoRun>>((resolve) => {
        const end = (outcome: Outcome<EchoRun>): void => {
          job.signal.removeEventListener("abort", abort);
          resolve(outcome);
        };
        const cancel = deps.host.start({ kind: "echo", request }, (event) => {
          if (event.kind === "reply") {
            replies.push(event.reply);
            onReply(event.reply);
          } else if (event.kind === "echo_done") end(judgeRun({ replies, clockErrorMs: event.clockErrorMs }));
          else if (event.kind === "failed") end(failed("request", "probe", event.reason, event.message));
        });
        function abort(): void {
          cancel();
          end(isDue ? heldUp("its ICMP process did not end its run in time") : CANCELLED);
        }
        if (job.signal.aborted) return abort();
        job.signal.addEventListener("abort", abort);
      }).finally(() => clearTimeout(due));
    },
  });
}

const CANCELLED = failed("request", "probe", "cancelled", "the check ended before the echo run completed");

/** Returns the longest duration of a run, in milliseconds: until the last echo is taken for lost. */
function durationOf({ count, intervalMs, timeoutMs }: EchoRequest): number {
  return (count - 1) * intervalMs + timeoutMs;
}

/** Returns the run, or the failure of a run with losses that the ICMP process itself may have caused. */
export function judgeRun(run: EchoRun): Outcome<EchoRun> {
  if (run.clockErrorMs <= MAX_LAG_MS || run.replies.every(({ status }) => status !== "timeout")) return ok(run);
  const held = `its ICMP process was held up for ${(run.clockErrorMs / 1_000).toFixed(1)} s`;
  return heldUp(`${held}, so the missing replies do not describe the target`);
}

function heldUp(what: string): Failed {
  return overloaded("request", what, { repeatable: true });
}
