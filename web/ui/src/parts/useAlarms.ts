import { useQuery } from "@tanstack/react-query";
import { api, background, got } from "@/api/client";

/** What rings, the most urgent first; kept up to date. */
export const useAlarms = () => useQuery({ queryKey: ["alarms"], queryFn: () => got(api.GET("/v1/alarms", { headers: background })), refetchInterval: 5_000 });
