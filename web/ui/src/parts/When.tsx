import { useEffect, useState } from "react";
import { ago, at } from "./words";

let now = Date.now();
const watchers = new Set<() => void>();
setInterval(() => {
  now = Date.now();
  for (const f of watchers) f();
}, 15_000);

/** A moment as people say it, with the exact one in its tooltip and for machines. */
export function When({ t }: { t?: string | null }) {
  const [, tick] = useState(0);
  useEffect(() => {
    const f = () => tick((n) => n + 1);
    watchers.add(f);
    return () => void watchers.delete(f);
  }, []);
  if (!t) return <span>–</span>;
  return (
    <time title={at(t)} dateTime={t}>{ago(t, Math.max(now, Date.now()))}</time>
  );
}
