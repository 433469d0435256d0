"""How the ranks of a communicator meet: ``calls`` what they ask for, ``hub`` where they meet,
``wire`` how ranks of other processes reach the hub."""
