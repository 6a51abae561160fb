DROP TABLE baseline_items;
DROP TABLE baselines;
