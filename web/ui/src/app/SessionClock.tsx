import { Button } from "@mantine/core";
import { useEffect, useState } from "react";
import { lastAsked } from "@/api/client";
import { span } from "@/parts/words";
import { useSession } from "./session";

const idle = 15 * 60_000;
const warn = 2 * 60_000;

/** Warns before a session ends for want of use (WCAG 2.2.1), and lets one keep it. */
export function SessionClock() {
  const { renew } = useSession();
  const [left, setLeft] = useState(idle);
  useEffect(() => {
    const t = setInterval(() => setLeft(idle - (Date.now() - lastAsked())), 5_000);
    return () => clearInterval(t);
  }, []);
  if (left > warn || left <= 0) return null;
  return (
    <Button size="compact-sm" color="orange" variant="light" role="alert" onClick={() => void renew().then(() => setLeft(idle))}>
      Signed out in {span(left)}: stay
    </Button>
  );
}
