import {
  IconAlertCircle,
  IconArchive,
  IconBell,
  IconCalendarDue,
  IconChartHistogram,
  IconFileSearch,
  IconGauge,
  IconHelpCircle,
  IconKey,
  IconListDetails,
  IconPlayerPause,
  IconReload,
  IconRulerMeasure,
  IconUserCheck,
  IconUsers,
  IconWand,
} from "@tabler/icons-react";
import { type ComponentType, lazy } from "react";

export interface Room {
  path: string;
  label: string;
  icon: ComponentType<{ size?: number; stroke?: number }>;
  /** Nobody without it is shown the way there. */
  permission: string;
  /** Pressed after g. */
  key: string;
}

/** The rooms of the console, in the order of the work: what is wrong, what to do, how it is run, who did what. */
export const rooms: { title: string; rooms: Room[] }[] = [
  {
    title: "Work",
    rooms: [
      { path: "/", label: "Overview", icon: IconGauge, permission: "metrics.read", key: "o" },
      { path: "/groups", label: "Causes", icon: IconChartHistogram, permission: "groups.read", key: "c" },
      { path: "/records", label: "Records", icon: IconListDetails, permission: "records.read", key: "r" },
      { path: "/in-doubt", label: "In doubt", icon: IconHelpCircle, permission: "records.read", key: "d" },
      { path: "/parked", label: "Parked", icon: IconArchive, permission: "records.read", key: "k" },
      { path: "/deadlines", label: "Deadlines", icon: IconCalendarDue, permission: "payload.reveal", key: "f" },
      { path: "/recipes", label: "Recipes", icon: IconWand, permission: "records.read", key: "e" },
      { path: "/replays", label: "Replays", icon: IconReload, permission: "records.read", key: "y" },
      { path: "/approvals", label: "Approvals", icon: IconUserCheck, permission: "records.read", key: "v" },
    ],
  },
  {
    title: "Operate",
    rooms: [
      { path: "/alarms", label: "Alarms", icon: IconBell, permission: "metrics.read", key: "a" },
      { path: "/switches", label: "Partners", icon: IconPlayerPause, permission: "metrics.read", key: "p" },
      { path: "/sizing", label: "Sizing", icon: IconRulerMeasure, permission: "sizing.read", key: "s" },
    ],
  },
  {
    title: "Trust",
    rooms: [
      { path: "/audit", label: "Audit log", icon: IconFileSearch, permission: "audit.read", key: "l" },
      { path: "/users", label: "Users", icon: IconUsers, permission: "users.admin", key: "u" },
      { path: "/keys", label: "Keys and tokens", icon: IconKey, permission: "", key: "t" },
    ],
  },
];

export const NoIcon = IconAlertCircle;

/** Pages by path. Each is loaded when somebody goes there. */
export const pages: [path: string, page: ComponentType][] = [
  ["/", lazy(() => import("@/pages/Overview"))],
  ["/groups", lazy(() => import("@/pages/Groups"))],
  ["/records", lazy(() => import("@/pages/Records"))],
  ["/records/:id", lazy(() => import("@/pages/Record"))],
  ["/records/:id/claim", lazy(() => import("@/pages/Claim"))],
  ["/in-doubt", lazy(() => import("@/pages/InDoubt"))],
  ["/parked", lazy(() => import("@/pages/Parked"))],
  ["/deadlines", lazy(() => import("@/pages/Deadlines"))],
  ["/recipes", lazy(() => import("@/pages/Recipes"))],
  ["/recipes/new", lazy(() => import("@/pages/RecipeNew"))],
  ["/recipes/:id", lazy(() => import("@/pages/Recipe"))],
  ["/replays", lazy(() => import("@/pages/Replays"))],
  ["/replays/new", lazy(() => import("@/pages/ReplayNew"))],
  ["/replays/:id", lazy(() => import("@/pages/Replay"))],
  ["/acts/:id", lazy(() => import("@/pages/Act"))],
  ["/approvals", lazy(() => import("@/pages/Approvals"))],
  ["/alarms", lazy(() => import("@/pages/Alarms"))],
  ["/switches", lazy(() => import("@/pages/Switches"))],
  ["/sizing", lazy(() => import("@/pages/Sizing"))],
  ["/audit", lazy(() => import("@/pages/Audit"))],
  ["/users", lazy(() => import("@/pages/Users"))],
  ["/keys", lazy(() => import("@/pages/Keys"))],
  ["/account", lazy(() => import("@/pages/Account"))],
];
