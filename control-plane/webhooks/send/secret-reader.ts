import { LRUCache } from "lru-cache";
import type { Encryption } from "#control-plane/secrets/encryption.ts";
import { openSecrets } from "#control-plane/webhooks/secrets.ts";
import type { StoredWebhook, WebhookSecrets } from "#control-plane/webhooks/webhook.ts";

const MOST_KEPT = 1_000;

/**
 * Creates a function that decrypts the secrets of subscriptions. Those that were used last are kept: a tenth of the time
 * of a delivery was their decryption.
 */
export function createSecretReader(
  encryption: Encryption,
): (webhook: Pick<StoredWebhook, "id" | "secrets">) => WebhookSecrets {
  const kept = new LRUCache<number, { readonly sealed: Uint8Array; readonly opened: WebhookSecrets }>({
    max: MOST_KEPT,
  });
  return ({ id, secrets: sealed }) => {
    const known = kept.get(id);
    // Each change of the secrets is sealed anew, with another nonce.
    if (known !== undefined && Buffer.compare(known.sealed, sealed) === 0) return known.opened;
    const opened = openSecrets(encryption, sealed);
    kept.set(id, { sealed, opened });
    return opened;
  };
}
