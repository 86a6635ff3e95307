/** What was, what is, and what was taken back. */
export interface History<T> {
  past: T[];
  now: T;
  future: T[];
  /** What the last step was about: typing on in one cell is one step. */
  about: string;
}

export const begin = <T>(now: T): History<T> => ({ past: [], now, future: [], about: "" });

const most = 200;

export function step<T>(h: History<T>, next: T, about: string): History<T> {
  if (about !== "" && about === h.about) return { ...h, now: next, future: [] };
  return { past: [...h.past.slice(-most + 1), h.now], now: next, future: [], about };
}

export function undo<T>(h: History<T>): History<T> {
  const before = h.past.at(-1);
  return before === undefined ? h : { past: h.past.slice(0, -1), now: before, future: [h.now, ...h.future], about: "" };
}

export function redo<T>(h: History<T>): History<T> {
  const [next, ...future] = h.future;
  return next === undefined ? h : { past: [...h.past, h.now], now: next, future, about: "" };
}
