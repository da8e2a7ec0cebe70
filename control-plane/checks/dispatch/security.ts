import type { Gatekeeper } from "#control-plane/checks/dispatch/admission.ts";

/** Certificate of the listener: PEM, the chain with the authority's certificate last. */
export interface ListenerIdentity {
  readonly chain: string;
  readonly privateKey: string;
  /** PEM of the authorities that client certificates come from. */
  readonly authorities: readonly string[];
}

/** An issued certificate. */
interface Issued {
  /** DER. */
  readonly certificate: Uint8Array;
  /** DER. */
  readonly caCertificate: Uint8Array;
  /** DER of an authority that is to be trusted too, while another takes its place; empty: none. */
  readonly leavingCaCertificate: Uint8Array;
  readonly agentId: string;
  /** The control plane's clock, Unix milliseconds. */
  readonly timeMs: number;
}

/** Reason why no certificate was issued; the message is for the operator of the agent. */
export interface NotIssued {
  /** identity: token or certificate; request: the certificate request; limit: too many failures; away: try again. */
  readonly fault: "identity" | "request" | "limit" | "away";
  readonly message: string;
}

/** Result of a certificate request. */
export type Issuance = { readonly ok: true; readonly issued: Issued } | ({ readonly ok: false } & NotIssued);

/** Issues certificates to agents (implemented in control-plane/checks/probes). Never rejects. */
export interface Enrolment {
  /** Enrols a new agent with a join token. `peer`: address of the caller. */
  enroll(token: string, request: Uint8Array, peer: string): Promise<Issuance>;
  /**
   * Renews the certificate of the connection (DER, null: none or invalid) for the same agent. `follows`: it can be one of
   * another authority.
   */
  renew(certificate: Uint8Array | null, request: Uint8Array, peer: string, follows: boolean): Promise<Issuance>;
}

/** Dependencies of the listener to authenticate agents. */
export interface Security {
  readonly gatekeeper: Gatekeeper;
  readonly enrolment: Enrolment;
  /** Returns the SHA-256 of the authorities that agents are to trust. */
  authorities(): readonly Uint8Array[];
  readonly identity: {
    current(): ListenerIdentity;
    /** Adds a listener that gets each renewed identity. */
    onRenew(listener: (identity: ListenerIdentity) => void): void;
  };
}
