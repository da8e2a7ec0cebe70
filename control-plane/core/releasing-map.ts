/** A map whose former entries can always be collected as garbage. */
export interface ReleasingMap<K, V> {
  readonly size: number;
  get(key: K): V | undefined;
  has(key: K): boolean;
  set(key: K, value: V): void;
  /** Removes an entry. Returns whether there was one. */
  delete(key: K): boolean;
  /** Values in the order in which their keys were added. */
  values(): IterableIterator<V>;
}

/**
 * Creates an empty map for many short-lived entries. A Map of V8 replaces its table each time it is used up, and the old
 * table keeps its entries and points to the new one. Once one table has reached the old generation, it keeps all later
 * tables and entries alive until the next full collection: each check cost 5 KB of the old generation instead of none.
 * Here the tables hold boxes, which are emptied when an entry is removed.
 */
export function createReleasingMap<K, V>(): ReleasingMap<K, V> {
  const boxes = new Map<K, { value: V | undefined }>();
  return {
    get size() {
      return boxes.size;
    },
    get: (key) => boxes.get(key)?.value,
    has: (key) => boxes.has(key),
    set(key, value) {
      boxes.set(key, { value });
    },
    delete(key) {
      const box = boxes.get(key);
      if (box === undefined) return false;
      box.value = undefined;
      return boxes.delete(key);
    },
    *values() {
      for (const { value } of boxes.values()) yield value as V;
    },
  };
}
