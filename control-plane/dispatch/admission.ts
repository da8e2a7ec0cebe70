import type { AgentInfo, Rejection } from "#control-plane/dispatch/hello.ts";

/** What the control plane itself knows of an agent, beside the agent's own word: its enrolment. */
export interface Enrolled {
  readonly agentId: string;
  /** The region its token was made for; a hello that names another is refused. */
  readonly region: string;
  /** Set: a private agent, which serves this account only. */
  readonly accountId: number | null;
  /** false: it stays attached and gets no work (PUT /api/admin/probes). */
  readonly enabled: boolean;
}

/** Who a connection belongs to, asked once for each stream before its hello counts. */
export type Admission =
  | { readonly ok: true; readonly enrolled: Enrolled }
  | { readonly ok: false; readonly rejection: Rejection };

/** The outside of enrolment, as the wire and the hub see it (control-plane/probes fulfils it). */
export interface Gatekeeper {
  /** Decides on the client certificate a stream was opened with: DER, null where the agent showed none. */
  admit(certificate: Uint8Array | null): Promise<Admission>;
  /**
   * Told of every change of the enrolment of an agent that was admitted here, on whatever replica it was made: `null`
   * means revoked, the stream closes at once. Looked up again for all of them every few seconds and after a loss of the
   * database's notifications.
   */
  onChange(listener: (agentId: string, enrolled: Enrolled | null) => void): void;
}

/** Said to an agent whose enrolment was revoked or erased, at the door or on its open stream. */
export const REVOKED: Rejection = {
  reason: "revoked",
  message: "the agent was revoked; enrol it again with a new join token",
  retry: false,
};

/** Why an agent that calls itself other than it was enrolled is refused; null: it does not. */
export function misnamed({ id, place }: AgentInfo, { agentId, region }: Enrolled): Rejection | null {
  const refuse = (message: string): Rejection => ({ reason: "identity", message, retry: false });
  if (id !== agentId) return refuse(`the certificate belongs to agent ${agentId}, not to ${id}`);
  if (place.region === region) return null;
  return refuse(
    `agent ${agentId} is enrolled in region ${region}, not ${place.region}; to move it, enrol it with a new join token`,
  );
}
