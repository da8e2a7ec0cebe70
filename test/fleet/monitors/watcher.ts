import type { ClientDuplexStream } from "@grpc/grpc-js";
import type { AgentMessage, HubMessage, Job } from "#shared/protocol/probe.ts";
import type { MonitorResult } from "#shared/monitor-checks/define.ts";
import { failed, ok, type Outcome } from "#shared/contracts/outcome.ts";
import { BEAT_MS, PROTOCOL } from "#shared/protocol/wire.ts";
import type { Answer, Verdict } from "#test/fleet/monitors/records.ts";
import type { Script } from "#test/fleet/monitors/script.ts";
import type { Dice } from "#test/fleet/random.ts";
import { clientCredentials, dialProbe } from "#test/support/dial.ts";
import type { AgentIdentity } from "#test/support/enrol.ts";

/** Domain of the targets, which the agents are allowed to reach. */
export const TARGETS = "fleet.test";
const CREDITS = 500;
const REDIAL_MS = 300;

/** Agents of one run, one for each region, each attached to every replica. */
export interface Watchers {
  /** What they were asked and answered, in order. */
  readonly answers: readonly Answer[];
  /** Number of streams that a replica has welcomed. */
  attached(): number;
  /** Ends all streams. */
  stop(): void;
}

/** Dependencies of the agents. */
interface WatcherContext {
  readonly ports: readonly number[];
  readonly script: Script;
  readonly dice: Dice;
}

/** Returns the URL of a target. */
export function targetUrl(number: number, version: number): string {
  return `http://m${number}-v${version}.${TARGETS}/`;
}

/** Attaches agents, each of which dials again after each loss. An answer is noted before it is sent. */
export function startWatchers(
  members: readonly { readonly identity: AgentIdentity; readonly region: string }[],
  { ports, script, dice }: WatcherContext,
): Watchers {
  const answers: Answer[] = [];
  const welcomed = new Set<object>();
  const streams = new Set<ClientDuplexStream<AgentMessage, HubMessage>>();
  let isOver = false;

  function dial({ identity, region }: (typeof members)[number], port: number): void {
    if (isOver) return;
    const client = dialProbe(port, clientCredentials(identity.caCertificate, identity));
    const stream = client.attach();
    streams.add(stream);
    let running = 0;
    const say = (message: AgentMessage) => {
      if (streams.has(stream) && stream.writable) stream.write(message);
    };
    const beat = setInterval(
      () => say({ body: { $case: "beat", value: { running, credits: CREDITS, loopLagMs: 0, waiting: 0 } } }),
      BEAT_MS,
    );
    const lost = () => {
      if (!streams.delete(stream)) return;
      welcomed.delete(stream);
      clearInterval(beat);
      client.close();
      setTimeout(() => dial({ identity, region }, port), REDIAL_MS);
    };
    const answer = ({ jobId, attempt, params }: Job) => {
      running -= 1;
      if (!streams.has(stream)) return;
      const [, number, version] = /\/\/m(\d+)-v(\d+)\./.exec((JSON.parse(params) as { url: string }).url) ?? [];
      const question = { number: Number(number), version: Number(version), location: region };
      const verdict = script.verdict(question, Date.now());
      const sending = answers.length + 1;
      answers.push({ ...question, sending, verdict });
      const outcome = JSON.stringify(outcomeOf(verdict, sending));
      say({ body: { $case: "result", value: { jobId, attempt, outcome, durationMs: 1 } } });
    };
    stream.on("data", ({ body }: HubMessage) => {
      if (body?.$case === "welcome") welcomed.add(stream);
      if (body?.$case !== "job") return;
      const job = body.value;
      running += 1;
      if (!job.quiet) say({ body: { $case: "accepted", value: { jobId: job.jobId, attempt: job.attempt } } });
      setTimeout(() => answer(job), spentOn(dice));
    });
    stream.on("error", lost);
    stream.on("end", lost);
    const location = { region, city: "", country: "", asn: 0, tags: [] };
    const may = { capabilities: [], allowTargets: [], allowNames: [TARGETS] };
    const id = { protocol: PROTOCOL, agentId: identity.agentId, version: "0.0.0" };
    stream.write({
      body: { $case: "hello", value: { ...id, location, ...may, credits: CREDITS, maxJobs: 5_000, sendsLog: false } },
    });
  }

  for (const member of members) for (const port of ports) dial(member, port);
  return {
    answers,
    attached: () => welcomed.size,
    stop() {
      isOver = true;
      for (const stream of streams) stream.cancel();
    },
  };
}

/** Returns an outcome that carries the number of its answer, so that its row names the answer it came from. */
function outcomeOf(verdict: Verdict, sending: number): Outcome<MonitorResult> {
  if (verdict === "unknown") return failed("connect", "probe", "self_test_failed", numbered(sending));
  // Every other outage is a target that gives no answer at all.
  if (verdict === "down" && sending % 2 === 0) return failed("connect", "target", "timeout", numbered(sending));
  const fault = { stage: "response", reason: "http_status", message: numbered(sending) } as const;
  return ok({
    verdict,
    response_ms: sending,
    http_status: verdict === "up" ? 200 : 503,
    fault: verdict === "up" ? null : fault,
    whole: null,
    elapsed_ms: 1,
  });
}

/** Returns a message that the reader of the database finds the number of an answer in. */
function numbered(sending: number): string {
  return `scripted answer ${sending}`;
}

/** Returns the duration of a check in milliseconds: 2 to 30, and one in fifty up to 1.5 s. */
function spentOn(dice: Dice): number {
  return dice() < 0.02 ? 200 + dice() * 1_300 : 2 + dice() * 28;
}
