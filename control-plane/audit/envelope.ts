import { signPayload, type Signature } from "#shared/audit/signature.ts";
import { toSignable } from "#control-plane/audit/signable.ts";

/** An export with its signature: `data` of the response. */
export interface Envelope {
  readonly data: unknown;
  readonly sig: Signature;
}

/** Signs a payload at a time. */
export function signEnvelope(payload: object, secret: string, at: Date): Envelope {
  const data = toSignable(payload);
  return { data, sig: signPayload(data, secret, Math.floor(at.getTime() / 1_000)) };
}
