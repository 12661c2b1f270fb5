"""Arms that hold objects together: the grasps, the model of the objects, and who carries what."""
