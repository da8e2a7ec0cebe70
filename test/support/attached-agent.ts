import { AgentMessage, HubMessage, type Hello, type Job } from "#shared/protocol/probe.ts";
import type { Outcome } from "#shared/contracts/outcome.ts";
import type { Enrolled } from "#control-plane/checks/dispatch/admission.ts";
import type { Hub } from "#control-plane/checks/dispatch/hub.ts";

/** An agent that is attached to a hub without a network. Messages are encoded and decoded, immediately and in order. */
export interface AttachedAgent {
  readonly id: string;
  readonly messages: readonly HubMessage[];
  /** Jobs that it received, oldest first. */
  readonly jobs: readonly Job[];
  /** Whether the hub has ended the stream. */
  readonly closed: boolean;
  send(message: AgentMessage): void;
  /** Sends a heartbeat with these credits and its number of running jobs. */
  beat(credits: number, running?: number): void;
  /** Sends that it has accepted the job. */
  accept(job: Job | undefined): void;
  answer(job: Job | undefined, outcome: Outcome<unknown>, durationMs?: number): void;
  decline(job: Job | undefined, reason: string): void;
  drain(): void;
  /** Breaks the stream. */
  cut(): void;
}

/** Attaches an agent. Throws if the hub rejects it. `work`, if given, answers each job. */
export function attachAgent(
  hub: Hub,
  hello: Hello,
  enrolled: Partial<Enrolled> = {},
  work?: (job: Job) => Outcome<unknown> | Promise<Outcome<unknown>>,
): AttachedAgent {
  const messages: HubMessage[] = [];
  const state = { closed: false };
  const take = (message: HubMessage) => {
    if (state.closed) return;
    const taken = HubMessage.decode(HubMessage.encode(message).finish());
    messages.push(taken);
    const { body } = taken;
    if (work === undefined || body?.$case !== "job") return;
    setImmediate(() => {
      const outcome = work(body.value);
      if (outcome instanceof Promise) void outcome.then((late) => agent.answer(body.value, late));
      else agent.answer(body.value, outcome);
    });
  };
  const link = {
    send: take,
    close: (last?: HubMessage) => {
      if (last !== undefined) take(last);
      state.closed = true;
    },
  };
  const region = hello.location?.region ?? "";
  const known = { agentId: hello.agentId, region, accountId: null, enabled: true, ...enrolled };
  const stream = hub.attach(hello, link, known);
  if (!("receive" in stream)) throw new Error(`${stream.reason}: ${stream.message}`);
  const send = (message: AgentMessage) => stream.receive(AgentMessage.decode(AgentMessage.encode(message).finish()));
  const named = (job: Job | undefined) => {
    if (job === undefined) throw new Error("no such job");
    return { jobId: job.jobId, attempt: job.attempt };
  };
  const agent: AttachedAgent = {
    id: hello.agentId,
    messages,
    get jobs() {
      return messages.flatMap(({ body }) => (body?.$case === "job" ? [body.value] : []));
    },
    get closed() {
      return state.closed;
    },
    send,
    beat: (credits, running = 0) =>
      send({ body: { $case: "beat", value: { credits, running, loopLagMs: 1, waiting: 0 } } }),
    accept: (job) => send({ body: { $case: "accepted", value: named(job) } }),
    answer: (job, outcome, durationMs = 1) => {
      const value = { ...named(job), outcome: JSON.stringify(outcome), durationMs };
      send({ body: { $case: "result", value } });
    },
    decline: (job, reason) => send({ body: { $case: "declined", value: { ...named(job), reason } } }),
    drain: () => send({ body: { $case: "draining", value: {} } }),
    cut: () => stream.closed(),
  };
  return agent;
}
