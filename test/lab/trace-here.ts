// Program that runs one trace in this process's network namespace and prints its outcome. Argument: JSON of
// {request, allow: CIDRs}.
import { createEgress } from "#shared/internet/egress.ts";
import { startIcmpHost } from "#probe-agent/net/icmp/host.ts";
import type { TraceRequest } from "#probe-agent/port/packets.ts";
import { createTrace } from "#probe-agent/net/trace.ts";
import { systemClock } from "#test/support/clock.ts";
import { jobLimits } from "#test/support/net.ts";

const { request, allow } = JSON.parse(process.argv[2] ?? "{}") as {
  readonly request: TraceRequest;
  readonly allow: readonly string[];
};
const host = startIcmpHost({ clock: systemClock, log: () => {} });
await host.ready();
const egress = createEgress({ targets: allow, names: [] });
const trace = createTrace({ host, egress, clock: systemClock })(jobLimits(30_000));
const outcome = await trace.run(request, () => {});
await host.stop();
process.stdout.write(JSON.stringify({ outcome }));
