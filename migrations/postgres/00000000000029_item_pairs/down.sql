DROP TABLE uncompared_projects;
DROP TABLE item_pairs;
