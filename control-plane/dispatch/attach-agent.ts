import type { AgentMessage, Hello, Replicas } from "#shared/protocol/probe.ts";
import { PROTOCOL } from "#shared/wire.ts";
import { misnamed, REVOKED, type Enrolled } from "#control-plane/dispatch/admission.ts";
import { readHello, type Rejection } from "#control-plane/dispatch/hello.ts";
import { lose, moveJobs, moveWaiting } from "#control-plane/dispatch/leases.ts";
import { receive } from "#control-plane/dispatch/receive.ts";
import { openSession, type AgentLink } from "#control-plane/dispatch/session.ts";
import type { HubState } from "#control-plane/dispatch/state.ts";

/** What the wire gives a stream in exchange for its messages. */
export interface AttachedStream {
  receive(message: AgentMessage): void;
  /** The stream has ended, for whatever reason. */
  closed(): void;
}

/** Takes a new stream of an agent in, or says why not. A second stream of an agent replaces the first, jobs included. */
export function attachAgent(
  hub: HubState,
  hello: Hello,
  link: AgentLink,
  enrolled: Enrolled,
): AttachedStream | Rejection {
  const { clock, log, roster } = hub;
  const read = readHello(hello);
  if (!read.ok) return countRejection(hub, read.rejection);
  const { agent } = read;
  const otherName = misnamed(agent, enrolled);
  if (otherName !== null) return countRejection(hub, otherName);
  const older = roster.session(agent.id);
  const session = openSession(agent, enrolled, link, clock.monotonic(), clock.now());
  roster.join(session);
  log.info({ agent: agent.id, region: agent.place.region }, "agent attached");
  const { replicaId } = hub;
  const welcome = { replicaId, protocol: PROTOCOL, timeMs: clock.now().getTime(), replicas: listReplicas(hub) };
  link.send({ body: { $case: "welcome", value: welcome } });
  if (older !== undefined) {
    moveJobs(hub, older, "replaced");
    older.link.close();
  }
  return {
    receive(message) {
      session.heardAt = clock.monotonic();
      session.seenAt = clock.now();
      receive(hub, session, message);
    },
    closed: () => lose(hub, session, "closed"),
  };
}

/** Puts an agent's stream under a changed enrolment; `null`, revoked, ends the stream. */
export function applyEnrolment(hub: HubState, agentId: string, enrolled: Enrolled | null): void {
  const { roster } = hub;
  const session = roster.session(agentId);
  if (enrolled === null) {
    if (session !== undefined) lose(hub, session, "revoked");
    session?.link.close({ body: { $case: "rejected", value: countRejection(hub, REVOKED) } });
    roster.forget(agentId);
  } else if (session !== undefined) {
    session.enrolled = enrolled;
    roster.changed(session);
    if (!enrolled.enabled) moveWaiting(hub, session);
  }
}

/** Counts a stream that is turned away, and returns the reason. */
export function countRejection({ metrics }: HubState, rejection: Rejection): Rejection {
  metrics.rejected.inc({ reason: rejection.reason });
  return rejection;
}

/** Sends every attached agent the addresses of the live replicas. */
export function announceReplicas(hub: HubState): void {
  const value = listReplicas(hub);
  if (value === undefined) return;
  for (const session of hub.roster.sessions()) session.link.send({ body: { $case: "replicas", value } });
}

/** undefined: this replica knows of no others. */
function listReplicas({ presence }: HubState): Replicas | undefined {
  return presence && { replicas: presence.replicas().map((one) => ({ ...one })) };
}
