import type { ClientDuplexStream } from "@grpc/grpc-js";
import type { AgentMessage, HubMessage, Job } from "#shared/protocol/probe.ts";
import { BEAT_MS, PROTOCOL } from "#shared/protocol/wire.ts";
import { outcomeWith } from "#test/fleet/answer.ts";
import type { Trouble } from "#test/fleet/chaos.ts";
import type { Notebook } from "#test/fleet/notebook.ts";
import { below, type Dice } from "#test/fleet/random.ts";
import type { ResultKind } from "#test/fleet/records.ts";
import { clientCredentials, dialProbe } from "#test/support/dial.ts";
import type { AgentIdentity } from "#test/support/enrol.ts";

/** Longer than the lease and the sweep that ends it, so that the agent's jobs then belong to another agent. */
const FREEZE_MS = 7_000;

const STARTS_WITHIN_MS = 1_000;

/** Identity of an agent. */
export interface AgentMember {
  readonly identity: AgentIdentity;
  readonly region: string;
}

/** A job that an agent runs. */
interface Held {
  readonly job: Job;
  readonly receivedAt: number;
  readonly timer: NodeJS.Timeout;
}

/** What the agents of one process share. */
export interface AgentContext {
  readonly port: number;
  /** Domain that the agents are allowed to reach. */
  readonly domain: string;
  readonly dice: Dice;
  readonly notebook: Notebook;
  /** Returns an identifier for one sending that is never used again. */
  nextSending(): string;
  /** Called for the hub's first message on a stream. */
  onAttached(): void;
  /** Returns a job that another agent of the process runs. */
  heldByAnother(than: SimulatedAgent): Job | undefined;
}

/** An agent that measures nothing and answers every job. */
export interface SimulatedAgent {
  readonly held: ReadonlyMap<string, Held>;
  trouble(what: Trouble): void;
}

/** Attaches, and attaches again after each loss, until its process ends. */
export function startAgent({ identity, region }: AgentMember, around: AgentContext): SimulatedAgent {
  const { dice, notebook } = around;
  const { agentId } = identity;
  const channel = clientCredentials(identity.caCertificate, identity);
  const held = new Map<string, Held>();
  /** Jobs that belong to another agent by now, and are answered anyway. */
  let stale: Held[] = [];
  let frozen = false;
  let away = true;
  let duplicates = 0;
  let declines = 0;
  let stream: ClientDuplexStream<AgentMessage, HubMessage> | null = null;

  function dial(): ClientDuplexStream<AgentMessage, HubMessage> {
    const client = dialProbe(around.port, channel);
    const dialled = client.attach();
    let over = false;
    const lost = () => {
      if (over) return;
      over = true;
      client.close();
      // A frozen agent does not notice. It attaches again when it thaws.
      if (!frozen) reconnect();
    };
    dialled.on("data", (message: HubMessage) => hear(message));
    dialled.on("error", lost);
    dialled.on("end", lost);
    const location = { region, city: "", country: "", asn: 0, tags: [] };
    const may = { capabilities: ["icmp4"], allowTargets: [], allowNames: [around.domain] };
    const value = {
      protocol: PROTOCOL,
      agentId,
      version: "0.0.0",
      location,
      ...may,
      credits: 20,
      maxJobs: 20,
      sendsLog: false,
    };
    dialled.write({ body: { $case: "hello", value } });
    return dialled;
  }

  function reconnect(): void {
    if (away) return;
    away = true;
    giveUpJobs();
    dialAfter(200 + dice() * 1_300);
  }

  function dialAfter(ms: number): void {
    setTimeout(() => {
      away = false;
      stream = dial();
    }, ms);
  }

  function giveUpJobs(): void {
    for (const one of held.values()) {
      clearTimeout(one.timer);
      stale.push(one);
    }
    held.clear();
  }

  function say(message: AgentMessage): void {
    if (stream?.writable === true) stream.write(message);
  }

  function hear({ body }: HubMessage): void {
    if (body?.$case === "job") take(body.value);
    if (body?.$case === "cancel" && !frozen) drop(body.value.jobId);
    if (body?.$case !== "welcome") return;
    around.onAttached();
    sendLate();
    stale = [];
  }

  function take(job: Job): void {
    notebook.saw({ jobId: job.jobId, attempt: job.attempt, agentId });
    const receivedAt = performance.now();
    if (!frozen && declines > 0) {
      declines -= 1;
      say({ body: { $case: "declined", value: { jobId: job.jobId, attempt: job.attempt, reason: "busy" } } });
      return;
    }
    if (!frozen) say({ body: { $case: "accepted", value: { jobId: job.jobId, attempt: job.attempt } } });
    const timer = setTimeout(() => finish(job.jobId), spentOn(dice));
    held.set(job.jobId, { job, receivedAt, timer });
  }

  function drop(jobId: string): void {
    clearTimeout(held.get(jobId)?.timer);
    held.delete(jobId);
  }

  function finish(jobId: string): void {
    const one = held.get(jobId);
    if (one === undefined || frozen) return;
    held.delete(jobId);
    send(one, "true");
    if (duplicates === 0) return;
    duplicates -= 1;
    send(one, "duplicate");
  }

  function send({ job: { jobId, attempt, params }, receivedAt }: Omit<Held, "timer">, kind: ResultKind): void {
    const sending = around.nextSending();
    notebook.sends({ jobId, attempt, agentId, kind, sending });
    const spentMs = performance.now() - receivedAt;
    const outcome = outcomeWith({ jobId, attempt, agentId, sending, spentMs }, params);
    say({ body: { $case: "result", value: { jobId, attempt, outcome, durationMs: Math.round(spentMs) } } });
  }

  function sendLate(): void {
    for (const one of stale) send(one, "late");
  }

  function thaw(): void {
    frozen = false;
    giveUpJobs();
    sendLate();
    reconnect();
    stream?.cancel();
  }

  // Real agents that start together are on different machines, and no two are up at exactly the same moment.
  dialAfter(dice() * STARTS_WITHIN_MS);
  setTimeout(
    () => {
      setInterval(() => {
        if (frozen) return;
        say({ body: { $case: "beat", value: { running: held.size, credits: 20, loopLagMs: 0, waiting: 0 } } });
      }, BEAT_MS);
    },
    below(dice, BEAT_MS),
  );

  const agent: SimulatedAgent = {
    held,
    trouble(what) {
      if (frozen || away) return;
      if (what === "duplicate") duplicates += 1;
      if (what === "decline") declines += 1;
      // A cancelled job has the same effect as a cut stream.
      if (what === "cut") stream?.cancel();
      if (what === "freeze") {
        frozen = true;
        setTimeout(thaw, FREEZE_MS);
      }
      if (what !== "forge") return;
      const victim = around.heldByAnother(agent);
      if (victim === undefined) return;
      const { jobId, attempt } = victim;
      send({ job: victim, receivedAt: performance.now() }, "forged");
      say({ body: { $case: "declined", value: { jobId, attempt, reason: "incapable" } } });
    },
  };
  return agent;
}

/**
 * Returns the duration of a job in milliseconds: 5 to 50, and for one in fifty so long that it still runs elsewhere
 * when late results arrive.
 */
function spentOn(dice: Dice): number {
  return dice() < 0.02 ? 300 + dice() * 1_700 : 5 + dice() * 45;
}
