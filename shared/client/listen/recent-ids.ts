/** Remembers the ids of events. */
interface RecentIds {
  /** Remembers an id; returns true if it was remembered already. */
  add(id: string): boolean;
}

/** Remembers the last `most` different ids. */
export function rememberIds(most: number): RecentIds {
  // A Set lists its members in the order in which they were added.
  const ids = new Set<string>();
  return {
    add(id) {
      const isKnown = ids.delete(id);
      ids.add(id);
      if (ids.size > most) for (const oldest of ids.values().take(1)) ids.delete(oldest);
      return isKnown;
    },
  };
}
