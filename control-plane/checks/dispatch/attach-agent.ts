import type { AgentMessage, Hello, Replicas } from "#shared/protocol/probe.ts";
import { PROTOCOL } from "#shared/protocol/wire.ts";
import { refuseOtherIdentity, REVOKED, type Enrolled } from "#control-plane/checks/dispatch/admission.ts";
import { readHello, type Rejection } from "#control-plane/checks/dispatch/hello.ts";
import { detachSession, moveJobs, moveWaiting } from "#control-plane/checks/dispatch/lost-agents.ts";
import { receiveMessage } from "#control-plane/checks/dispatch/receive-message.ts";
import { openSession, type AgentLink } from "#control-plane/checks/dispatch/session.ts";
import type { HubState } from "#control-plane/checks/dispatch/state.ts";

/** An attached stream, through which the listener passes on its messages. */
export interface AttachedStream {
  receive(message: AgentMessage): void;
  /** Reports the end of the stream, for any reason. */
  closed(): void;
}

/** Attaches a new stream of an agent or rejects it. A second stream of an agent replaces the first, jobs included. */
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
  const otherName = refuseOtherIdentity(agent, enrolled);
  if (otherName !== null) return countRejection(hub, otherName);
  const older = roster.session(agent.id);
  const session = openSession(agent, enrolled, link, clock.monotonic(), clock.now());
  roster.join(session);
  log.info({ agent: agent.id, region: agent.place.region }, "agent attached");
  const { replicaId } = hub;
  const welcome = {
    replicaId,
    protocol: PROTOCOL,
    timeMs: clock.now().getTime(),
    replicas: listReplicas(hub),
    authorities: [],
  };
  link.send({ body: { $case: "welcome", value: welcome } });
  if (older !== undefined) {
    moveJobs(hub, older, "replaced");
    older.link.close();
  }
  return {
    receive(message) {
      session.heardAt = clock.monotonic();
      session.seenAt = clock.now();
      receiveMessage(hub, session, message);
    },
    closed: () => detachSession(hub, session, "closed"),
  };
}

/** Applies a changed enrolment to an agent's stream; `null` (revoked) ends the stream. */
export function applyEnrolment(hub: HubState, agentId: string, enrolled: Enrolled | null): void {
  const { roster } = hub;
  const session = roster.session(agentId);
  if (enrolled === null) {
    if (session !== undefined) detachSession(hub, session, "revoked");
    session?.link.close({ body: { $case: "rejected", value: countRejection(hub, REVOKED) } });
    roster.forget(agentId);
  } else if (session !== undefined) {
    session.enrolled = enrolled;
    roster.changed(session);
    if (!enrolled.enabled) moveWaiting(hub, session);
  }
}

/** Counts a rejected stream and returns the rejection. */
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

/** Returns the live replicas; undefined if this replica is alone. */
function listReplicas({ presence }: HubState): Replicas | undefined {
  return presence && { replicas: presence.replicas().map((one) => ({ ...one })) };
}
