import { useQueryClient } from "@tanstack/react-query";
import { createContext, type ReactNode, useContext, useEffect, useRef, useState } from "react";
import type { Schemas } from "@/api/client";
import { useEvents } from "@/api/events";
import { useSession } from "./session";

interface Live {
  overview: Schemas["Overview"] | null;
  /** Whether it is fed as things happen; otherwise it is the last that came. */
  live: boolean;
  /** The server does not answer. */
  lost: boolean;
}

const Context = createContext<Live>({ overview: null, live: false, lost: false });

/** One stream of the overview for the page and the navigation. */
export function LiveOverview({ children }: { children: ReactNode }) {
  const { may } = useSession();
  const [overview, set] = useState<Schemas["Overview"] | null>(null);
  const client = useQueryClient();
  const { live, lost } = useEvents<Schemas["Overview"]>(may("metrics.read") ? "/v1/streams" : null, "overview", set);
  // Once the server is back, everything shown is read anew.
  const was = useRef(false);
  useEffect(() => {
    if (was.current && !lost) void client.invalidateQueries();
    was.current = lost;
  }, [lost, client]);
  return <Context.Provider value={{ overview, live, lost }}>{children}</Context.Provider>;
}

export const useLive = (): Live => useContext(Context);
