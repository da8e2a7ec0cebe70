import type { Clock, Random } from "#shared/clock.ts";
import type { Sql } from "#control-plane/database/connect.ts";
import { transact } from "#control-plane/database/transaction.ts";
import type { Encryption } from "#control-plane/secrets/encryption.ts";
import { createAuthority, openAuthority, type Authority } from "#control-plane/probes/authority.ts";
import { findAuthority, insertAuthority } from "#control-plane/probes/store.ts";

const PURPOSE = "authority.private_key";

/** Dependencies of the installation's authority. */
interface AuthorityDeps {
  readonly sql: Sql;
  readonly encryption: Encryption;
  readonly clock: Clock;
  readonly random: Random;
}

/** Loads the installation's only authority. The first replica creates it; all replicas use the same. */
export async function loadAuthority({ sql, encryption, clock, random }: AuthorityDeps): Promise<Authority> {
  const kept = (await findAuthority(sql)) ?? (await createAndStore());
  const privateKey = encryption.open(kept.privateKey, PURPOSE);
  if (privateKey === null)
    throw new Error("the authority's key in the database cannot be decrypted with the master key");
  return openAuthority({ certificate: kept.certificate, privateKey }, clock, random);

  async function createAndStore() {
    const { certificate, privateKey: fresh } = await createAuthority(clock, random);
    const sealed = { certificate, privateKey: encryption.seal(fresh, PURPOSE) };
    return transact(sql, (tx) => insertAuthority(tx, sealed, clock.now()));
  }
}
