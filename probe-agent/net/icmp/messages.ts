import type { EchoReply, EchoRequest, PathMtu, TraceHop, TraceRequest } from "#probe-agent/port/packets.ts";

/** IP versions that the ICMP process can use, and the reasons for those that it cannot use. */
export interface IcmpCapabilities {
  readonly v4: boolean;
  readonly v6: boolean;
  /** One line for each missing requirement; empty if nothing is missing. */
  readonly missing: readonly string[];
}

/** A trace with its time limit in milliseconds. */
export interface BoundedTrace extends TraceRequest {
  readonly budgetMs: number;
}

/** A search for the MTU of the path to an address, with its time limit in milliseconds. */
export interface MtuRequest {
  readonly ip: string;
  readonly budgetMs: number;
}

/** Asks whether an ICMP error answered a TCP connection that the kernel reports as failed. */
export interface RefusalRequest {
  /** The destination. */
  readonly ip: string;
  readonly port: number;
  readonly localPort: number;
}

/** An ICMP error in answer to a TCP segment. */
export interface TcpRefusal {
  readonly from: string;
  readonly type: number;
  readonly code: number;
}

/** A message from the agent to its ICMP process. The agent assigns the job numbers. */
export type ToChild =
  | { readonly kind: "echo"; readonly job: number; readonly request: EchoRequest }
  | { readonly kind: "trace"; readonly job: number; readonly request: BoundedTrace }
  | { readonly kind: "mtu"; readonly job: number; readonly request: MtuRequest }
  | { readonly kind: "refusal"; readonly job: number; readonly request: RefusalRequest }
  | { readonly kind: "cancel"; readonly job: number };

/** An event of a job. The last five kinds end it. */
export type JobEvent = { readonly job: number } & (
  | { readonly kind: "reply"; readonly reply: EchoReply }
  | { readonly kind: "hop"; readonly hop: TraceHop }
  | { readonly kind: "echo_done"; readonly clockErrorMs: number }
  | { readonly kind: "trace_done"; readonly reached: boolean }
  | { readonly kind: "mtu_done"; readonly mtu: PathMtu }
  | { readonly kind: "refusal_done"; readonly refusal: TcpRefusal | null }
  | { readonly kind: "failed"; readonly reason: string; readonly message: string }
);

/**
 * A message from the ICMP process: its capabilities once, then events in batches, so that sending them delays no time
 * stamp.
 */
export type FromChild =
  | { readonly kind: "ready"; readonly capabilities: IcmpCapabilities }
  | { readonly kind: "events"; readonly events: readonly JobEvent[] };
