/** Divides the room for running checks among accounts. */
interface AccountShares {
  /** Counts a check as running. Returns false if its account has used up its share. */
  begin(accountId: number): boolean;
  /** Ends a check that has begun. */
  end(accountId: number): void;
  /** Accounts that have used up their share, and of which nothing is claimed until a part of it is free again. */
  full(): readonly number[];
}

/**
 * Creates the shares of one replica with room for `most` checks. An account gets at most half of what the others leave
 * free. So there is always room for one more account, whatever number of checks hang at the targets of the others. An
 * account is full until a whole claim of at most `claimed` checks fits, or until half of its share is free.
 */
export function createAccountShares(most: number, claimed: number): AccountShares {
  const accounts = new Map<number, { running: number }>();
  const full = new Set<number>();
  let running = 0;

  const shareOf = (own: number): number => (most - (running - own)) / 2;

  return {
    begin(accountId) {
      const account = accounts.get(accountId) ?? { running: 0 };
      if (account.running > 0 && account.running >= shareOf(account.running)) {
        full.add(accountId);
        return false;
      }
      account.running += 1;
      running += 1;
      accounts.set(accountId, account);
      return true;
    },
    end(accountId) {
      const account = accounts.get(accountId);
      if (account === undefined) return;
      running -= 1;
      account.running -= 1;
      if (account.running === 0) accounts.delete(accountId);
    },
    full() {
      for (const accountId of full) {
        const own = accounts.get(accountId)?.running ?? 0;
        const share = shareOf(own);
        if (own <= Math.max(share - claimed, share / 2)) full.delete(accountId);
      }
      return [...full];
    },
  };
}
