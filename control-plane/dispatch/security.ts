import type { Gatekeeper } from "#control-plane/dispatch/admission.ts";

/** What the listener shows to agents: PEM, the chain with the authority's own certificate at its end. */
export interface ListenerIdentity {
  readonly chain: string;
  readonly privateKey: string;
}

/** A certificate just issued. */
export interface Issued {
  /** DER. */
  readonly certificate: Uint8Array;
  /** DER. */
  readonly caCertificate: Uint8Array;
  readonly agentId: string;
  /** The control plane's clock, Unix milliseconds. */
  readonly timeMs: number;
}

/** Why nothing was issued; the message is for whoever runs the agent. */
export interface NotIssued {
  /** identity: token or certificate; request: the certificate request; limit: too many failures; away: try again. */
  readonly fault: "identity" | "request" | "limit" | "away";
  readonly message: string;
}

/** What came of a call for a certificate. */
export type Issuance = { readonly ok: true; readonly issued: Issued } | ({ readonly ok: false } & NotIssued);

/** The certificates of agents, as the wire sees their making (control-plane/probes fulfils it). Never rejects. */
export interface Enrolment {
  /** For a join token: a new agent. `peer` is the address asked from. */
  enroll(token: string, request: Uint8Array, peer: string): Promise<Issuance>;
  /** For the certificate the connection was opened with (DER, null: none that holds): the same agent's next one. */
  renew(certificate: Uint8Array | null, request: Uint8Array, peer: string): Promise<Issuance>;
}

/** All that the wire needs to know friend from stranger. */
export interface Security {
  readonly gatekeeper: Gatekeeper;
  readonly enrolment: Enrolment;
  /** PEM of the authority that client certificates come from. */
  readonly authority: string;
  readonly identity: {
    current(): ListenerIdentity;
    /** Called with each identity that takes the place of the one before. */
    onRenew(listener: (identity: ListenerIdentity) => void): void;
  };
}
