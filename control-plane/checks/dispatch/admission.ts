import type { AgentInfo, Rejection } from "#control-plane/checks/dispatch/hello.ts";

/** Enrolment of an agent: what the control plane itself knows of it, independent of the agent's hello. */
export interface Enrolled {
  readonly agentId: string;
  /** Region of its join token; a hello with another region is refused. */
  readonly region: string;
  /** Account of a private agent, which only this account can use; null for a shared agent. */
  readonly accountId: number | null;
  /** false: the agent stays attached but gets no jobs (PUT /api/admin/probes). */
  readonly enabled: boolean;
}

/** Result of the check of a connection's certificate, done once for each stream before its hello is read. */
export type Admission =
  | { readonly ok: true; readonly enrolled: Enrolled }
  | { readonly ok: false; readonly rejection: Rejection };

/** Interface of enrolment for the listener and the hub (implemented in control-plane/checks/probes). */
export interface Gatekeeper {
  /** Checks the client certificate of a stream: DER, null if the agent sent none. */
  admit(certificate: Uint8Array | null): Promise<Admission>;
  /**
   * Adds a listener for changes, made at any replica, to the enrolment of agents admitted here. `null` means revoked:
   * the stream closes immediately. All admitted agents are read again every few seconds and after a loss of the
   * database's notifications.
   */
  onChange(listener: (agentId: string, enrolled: Enrolled | null) => void): void;
}

/** Rejection of an agent whose enrolment was revoked or deleted, at its hello or on an open stream. */
export const REVOKED: Rejection = {
  reason: "revoked",
  message: "the agent was revoked; enrol it again with a new join token",
  retry: false,
};

/** Returns the rejection of a hello whose id or region differs from the enrolment; null if they match. */
export function refuseOtherIdentity({ id, place }: AgentInfo, { agentId, region }: Enrolled): Rejection | null {
  const refuse = (message: string): Rejection => ({ reason: "identity", message, retry: false });
  if (id !== agentId) return refuse(`the certificate belongs to agent ${agentId}, not to ${id}`);
  if (place.region === region) return null;
  return refuse(
    `agent ${agentId} is enrolled in region ${region}, not ${place.region}; to move it, enrol it with a new join token`,
  );
}
