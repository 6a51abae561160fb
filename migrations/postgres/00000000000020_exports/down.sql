DROP TABLE dashboard_exports;
